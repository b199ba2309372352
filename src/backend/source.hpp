#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/session.hpp"

namespace ringshard {

// What init and import need beyond a Dialect: to look into a database that ringshard did not divide
// yet, and to take its definitions apart. An ability of its own, so that a backend without import
// need not have it.

enum class ObjectKind : std::uint8_t {
  other,  ///< a type, a function, a sequence of its own: what tables are made of
  table,
  index,        ///< and what else belongs to one table
  foreign_key,  ///< where it is no part of the table's own statement
  view,
  trigger
};

/// A definition, with the statement that makes it again.
struct SchemaObject {
  ObjectKind kind = ObjectKind::table;
  std::string name;
  std::string table;  ///< that it is, or belongs to; of a view its own name; of `other` none
  std::string statement;
  std::string parent = {};  ///< of a foreign key
};

struct ForeignKey {
  std::string table;
  std::vector<std::string> columns;
  std::string parent;
  std::vector<std::string> parent_columns;
  friend auto operator<=>(const ForeignKey&, const ForeignKey&) = default;
};

/// Stateless; thread-safe. All of it works inside the session's open transaction.
class SchemaParts {
 public:
  virtual ~SchemaParts() = default;

  /// Everything that was defined, in an order in which it can be made again: tables, indexes,
  /// views, triggers.
  virtual std::vector<SchemaObject> objects(Session& session) const = 0;

  /// Statements for what an application keeps beside its tables; every home and the reference home
  /// get them.
  virtual std::vector<std::string> settings(Session& session) const = 0;

  /// Of all tables, sorted. A parent that exists has the name that it was given, however the
  /// foreign key spells it.
  virtual std::vector<ForeignKey> foreign_keys(Session& session) const = 0;

  /// The statement that makes a table, less its foreign keys to any of `parents`. Nothing else of
  /// the text changes. Throws Error{schema} if the text can not be read.
  virtual std::string without_foreign_keys(std::string_view create_table,
                                           const std::set<std::string>& parents) const = 0;

  /// All that a table is but for its foreign keys: a line each for columns with types, defaults and
  /// constraints, for unique keys and options. Equal tables have equal lines.
  virtual std::vector<std::string> shape(Session& session, std::string_view table) const = 0;
};

/// A database that ringshard reads and never writes.
struct SourceDatabase {
  std::unique_ptr<Session> session;
  const Dialect& dialect;
  const SchemaParts& parts;
};

/// Opens the database of a DSN ("sqlite:/a/file.db") for reading only. Error{not_found} if it is
/// not there, Error{invalid_argument} if no backend knows the DSN's scheme.
SourceDatabase open_source(const std::string& dsn, Clock& clock);

/// The ability of the backend that the DSN belongs to.
const SchemaParts& schema_parts_of(const std::string& dsn);

}  // namespace ringshard
