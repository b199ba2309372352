#include "demo/bank.hpp"

namespace ringshard::demo {

void seed(Cluster& cluster, std::int64_t accounts, std::int64_t history) {
  std::map<ShardId, std::vector<std::int64_t>> by_shard;
  for (std::int64_t account = 0; account < accounts; ++account)
    by_shard[cluster.shard_of(account)].push_back(account);
  for (const auto& [shard, members] : by_shard) {
    cluster.transact(shard, [&](Transaction& tx) {
      for (const std::int64_t account : members) {
        tx.execute("INSERT INTO account (id, owner, version, balance) VALUES ($1, $2, 0, 0)",
                   account, "owner " + std::to_string(account));
        tx.execute("INSERT INTO last_seen (account_id, version) VALUES ($1, 0)", account);
        for (std::int64_t number = 1; number <= history; ++number)
          tx.execute("INSERT INTO entry (account_id, number, amount, note) VALUES ($1, $2, $3, $4)",
                     account, -number, number % 100, "an entry from before");
      }
    });
  }
}

void post(Cluster& cluster, std::int64_t account, std::int64_t version, std::int64_t amount) {
  cluster.transact(account, [&](Transaction& tx) {
    tx.execute("INSERT INTO entry (account_id, number, amount, note) VALUES ($1, $2, $3, $4)",
               account, version, amount,
               version % 3 == 0 ? std::optional<std::string>() : "posted");
    tx.execute("UPDATE account SET version = $2, balance = balance + $3 WHERE id = $1", account,
               version, amount);
    tx.execute("DELETE FROM last_seen WHERE account_id = $1", account);
    tx.execute("INSERT INTO last_seen (account_id, version) VALUES ($1, $2)", account, version);
    if (version > 5)
      tx.execute("UPDATE entry SET note = $3 WHERE account_id = $1 AND number = $2", account,
                 version - 5, "five later: " + std::to_string(version));
  });
}

std::optional<AccountState> look(Cluster& cluster, std::int64_t account) {
  return cluster.read(account, [&](ReadTransaction& tx) -> std::optional<AccountState> {
    const auto row = tx.query_optional<std::int64_t, std::int64_t>(
        "SELECT version, balance FROM account WHERE id = $1", account);
    if (!row) return std::nullopt;
    AccountState state;
    std::tie(state.version, state.balance) = *row;
    std::tie(state.entries, state.entries_sum) = tx.query_value<std::int64_t, std::int64_t>(
        "SELECT count(*), coalesce(sum(amount), 0) FROM entry WHERE account_id = $1 AND number > 0",
        account);
    state.last_seen = tx.query_value<std::int64_t>(
        "SELECT version FROM last_seen WHERE account_id = $1", account);
    return state;
  });
}

AuditReport audit(Cluster& cluster, Ledger& ledger) {
  AuditReport report;
  for (std::int64_t account = 0; account < ledger.accounts(); ++account) {
    ++report.accounts;
    const std::int64_t acknowledged = ledger.acknowledged(account).load();
    report.acknowledged += acknowledged;
    const std::optional<AccountState> state = look(cluster, account);
    if (!state) {
      ++report.missing_accounts;
      report.acknowledged_lost += acknowledged;
      continue;
    }
    const std::int64_t kept = cluster.query_value<std::int64_t>(
        account, "SELECT count(*) FROM entry WHERE account_id = $1 AND number BETWEEN 1 AND $2",
        account, acknowledged);
    report.acknowledged_lost += acknowledged - kept;
    if (state->version > ledger.issued(account).load()) ++report.never_issued;
    if (!state->consistent()) ++report.inconsistent;
  }
  report.history_rows = cluster.scatter_sum("SELECT count(*) FROM entry WHERE number < 0");
  return report;
}

}  // namespace ringshard::demo
