#pragma once

#include <filesystem>
#include <string>

namespace ringshard::sqlite {

/// "process 4711 has it", or what else can be said about who holds the write lock of a database in
/// WAL mode.
///
/// Reads /proc/locks. It must not ask through a descriptor of its own: closing one would drop every
/// lock that this process holds on that file (POSIX advisory locks, see
/// sqlite.org/howtocorrupt.html section 2.2).
std::string describe_lock_holder(const std::filesystem::path& database_file);

}  // namespace ringshard::sqlite
