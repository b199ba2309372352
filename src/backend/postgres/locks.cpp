#include "backend/postgres/locks.hpp"

#include <cstdint>

#include "backend/session.hpp"
#include "core/row_hash.hpp"

namespace ringshard::postgres {

const HomeName catalog_lock{"ringshard catalog", std::nullopt};

std::string lock_call(const HomeName& home, bool shared) {
  const auto keyspace = static_cast<std::int32_t>(core::hash_text(home.keyspace));
  const std::int64_t shard = home.shard ? static_cast<std::int64_t>(home.shard->value) : -1;
  return std::string(shared ? "pg_advisory_xact_lock_shared(" : "pg_advisory_xact_lock(") +
         std::to_string(keyspace) + ", " + std::to_string(shard) + ")";
}

std::string search_path_of(const HomeName& home) {
  const std::string reference = quoted(HomeName{home.keyspace, std::nullopt}.str());
  if (!home.shard) return reference + ", public";
  return quoted(home.str()) + ", " + reference + ", public";
}

}  // namespace ringshard::postgres
