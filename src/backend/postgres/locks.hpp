#pragma once

#include <string>

#include "core/home.hpp"

namespace ringshard::postgres {

/// What stands for the catalog where a home's name is asked for.
extern const HomeName catalog_lock;

/// The call that takes the lock of a home until the transaction ends: an advisory lock on the
/// keyspace's number and the shard's.
std::string lock_call(const HomeName& home, bool shared);

/// The value of search_path in which a home's SQL runs: the home, the reference home beside it, and
/// public for what extensions bring.
std::string search_path_of(const HomeName& home);

}  // namespace ringshard::postgres
