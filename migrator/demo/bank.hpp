#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ringshard/ringshard.hpp>
#include <string>

#include "demo/ledger.hpp"

namespace ringshard::demo {

/// One account as one snapshot shows it.
struct AccountState {
  std::int64_t version = 0;
  std::int64_t balance = 0;
  std::int64_t entries = 0;  ///< of the numbers 1 … version
  std::int64_t entries_sum = 0;
  std::int64_t last_seen = 0;

  /// What each transaction keeps true.
  bool consistent() const noexcept {
    return entries == version && entries_sum == balance && last_seen == version;
  }
};

/// Makes `accounts` accounts with `history` old entries each.
void seed(Cluster& cluster, std::int64_t accounts, std::int64_t history);

/// One write: entry `version` of `amount`, in one transaction with the account's new version and
/// balance.
void post(Cluster& cluster, std::int64_t account, std::int64_t version, std::int64_t amount);

/// Nothing if there is no such account.
std::optional<AccountState> look(Cluster& cluster, std::int64_t account);

struct AuditReport {
  std::int64_t accounts = 0;
  std::int64_t acknowledged = 0;       ///< writes that were acknowledged
  std::int64_t acknowledged_lost = 0;  ///< of these, not there any more
  std::int64_t never_issued = 0;       ///< writes that are there and that nobody made
  std::int64_t inconsistent = 0;       ///< accounts whose rows contradict each other
  std::int64_t missing_accounts = 0;
  std::int64_t history_rows = 0;  ///< old entries found

  bool clean() const noexcept {
    return acknowledged_lost == 0 && never_issued == 0 && inconsistent == 0 &&
           missing_accounts == 0;
  }
};

/// Reads every account and holds it against the ledger. Nobody may be writing.
AuditReport audit(Cluster& cluster, Ledger& ledger);

}  // namespace ringshard::demo
