#pragma once

#include <string>
#include <vector>

#include "backend/source.hpp"
#include "core/schema.hpp"
#include "setup/division.hpp"
#include "setup/problems.hpp"

namespace ringshard::setup {

/// What the homes of a keyspace are made of, taken from the definitions of the undivided database.
struct SplitSchema {
  HomeSchema home;
  HomeSchema reference;            ///< no statements: there are no reference tables
  std::vector<std::string> notes;  ///< what had to be left out
};

/// What to do about what can not be kept: a foreign key to a reference table, which lies in another
/// home, and a view over tables of both kinds.
enum class Leftovers { note, refuse };

/// Homes that a setup makes to try definitions out, on one node; gone at the end of the scope.
/// Their names can be those of no keyspace, and what a setup that was killed left of them is
/// dropped first.
class ScratchHomes {
 public:
  ScratchHomes(Backend& backend, const std::string& keyspace);
  ~ScratchHomes();
  ScratchHomes(const ScratchHomes&) = delete;
  ScratchHomes& operator=(const ScratchHomes&) = delete;

  const HomeName& whole() const noexcept { return whole_; }          ///< the undivided tables
  const HomeName& shard() const noexcept { return shard_; }          ///< a shard's
  const HomeName& reference() const noexcept { return reference_; }  ///< the reference tables

  /// Drops it if it is there, and makes it of these statements.
  void make(const HomeName& home, const std::vector<std::string>& statements);
  void drop_all();

  Backend& backend() noexcept { return backend_; }

 private:
  Backend& backend_;
  HomeName whole_;
  HomeName shard_;
  HomeName reference_;
};

/// Divides the definitions. The result was proved in scratch homes by the database itself: every
/// table has the columns, keys and options that it had, exactly the foreign keys that lead out of
/// the home are gone, and every trigger and view finds its tables. What can not be is noted in
/// `problems`; then the result is empty.
///
/// `source` has a transaction open. `division` was checked.
SplitSchema split_schema(SourceDatabase& source, const Division& division, ScratchHomes& scratch,
                         Leftovers leftovers, Problems& problems);

}  // namespace ringshard::setup
