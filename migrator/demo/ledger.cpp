#include "demo/ledger.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace ringshard::demo {

Ledger::Ledger(const std::filesystem::path& path, std::int64_t accounts)
    : accounts_(accounts),
      bytes_(static_cast<std::size_t>(accounts) * 2 * sizeof(std::atomic<std::int64_t>)) {
  const auto fail = [&](const char* what) {
    throw std::runtime_error(std::string(what) + " " + path.string() + ": " + std::strerror(errno));
  };
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) fail("can not open");
  struct stat status {};
  if (::fstat(file, &status) != 0) fail("can not look at");
  // Zero bytes are atomic zeros, so a new file needs no more than its size.
  if (static_cast<std::size_t>(status.st_size) < bytes_ &&
      ::ftruncate(file, static_cast<off_t>(bytes_)) != 0)
    fail("can not make room in");
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) fail("can not map");
  cells_ = static_cast<std::atomic<std::int64_t>*>(memory);
}

Ledger::~Ledger() { ::munmap(static_cast<void*>(cells_), bytes_); }

}  // namespace ringshard::demo
