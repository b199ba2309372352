#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace ringshard::demo {

/// What was asked and acknowledged, outside of any database: a file that all processes of a
/// demonstration map, with two numbers for each account. Each account has one writer; any thread of
/// any process may read. That the numbers are seen by others at once, and in order, is what makes
/// the comparison with what the router reads a proof.
class Ledger {
 public:
  /// Opens the file, making it for `accounts` accounts if it is not there. Throws
  /// std::runtime_error.
  Ledger(const std::filesystem::path& path, std::int64_t accounts);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  std::int64_t accounts() const noexcept { return accounts_; }

  /// The newest version that a writer has tried to write; set before it tries.
  std::atomic<std::int64_t>& issued(std::int64_t account) { return cells_[2 * account]; }

  /// The newest version whose write was acknowledged; set after that.
  std::atomic<std::int64_t>& acknowledged(std::int64_t account) { return cells_[2 * account + 1]; }

 private:
  std::int64_t accounts_;
  std::size_t bytes_;
  std::atomic<std::int64_t>* cells_ = nullptr;
};

}  // namespace ringshard::demo
