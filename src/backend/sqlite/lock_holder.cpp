#include "backend/sqlite/lock_holder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace ringshard::sqlite {

namespace {

// Where the lock of WAL writers lies in the "-shm" file (sqlite.org/walformat.html, section 2.2.1).
constexpr unsigned long long write_lock_byte = 120;

// The process that holds a write lock on a byte of a file, 0 if none is listed. A line of
// /proc/locks: "1: POSIX  ADVISORY  WRITE 4711 08:01:1234567 120 120"
long holder_of(unsigned long long inode, unsigned long long byte) {
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream fields(line);
    std::string number, kind, mode, access, file, first, last;
    long process = 0;
    if (!(fields >> number >> kind >> mode >> access >> process >> file >> first >> last)) continue;
    if (kind != "POSIX" || access != "WRITE") continue;
    const std::size_t colon = file.rfind(':');
    if (colon == std::string::npos || file.substr(colon + 1) != std::to_string(inode)) continue;
    const unsigned long long begin = std::strtoull(first.c_str(), nullptr, 10);
    const unsigned long long end = last == "EOF" ? byte : std::strtoull(last.c_str(), nullptr, 10);
    if (begin <= byte && byte <= end) return process;
  }
  return 0;
}

}  // namespace

std::string describe_lock_holder(const std::filesystem::path& database_file) {
  struct stat status {};
  const std::string shared_memory = database_file.string() + "-shm";
  if (stat(shared_memory.c_str(), &status) == 0) {
    const long process = holder_of(status.st_ino, write_lock_byte);
    if (process == getpid()) return "another session of this process has it";
    if (process > 0) return "process " + std::to_string(process) + " has it";
  }
  return "it was not free in time";
}

}  // namespace ringshard::sqlite
