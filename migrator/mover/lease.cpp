#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>
#include <ringshard/error.hpp>
#include <utility>

#include "mover/mover.hpp"

namespace ringshard {

std::string make_holder_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  std::random_device random;
  std::array<char, 16> suffix{};
  std::snprintf(suffix.data(), suffix.size(), "%08x", random());
  return std::string(host.data()) + ":" + std::to_string(::getpid()) + ":" + suffix.data();
}

Lease::Lease(Catalog& catalog, Clock& clock, std::string move_id, std::string holder,
             Duration duration)
    : catalog_(catalog),
      clock_(clock),
      move_id_(std::move(move_id)),
      holder_(std::move(holder)),
      duration_(duration),
      renewed_(clock.now()) {
  if (!catalog_.take_lease(move_id_, holder_, duration_))
    throw Error(ErrorCode::lease_lost,
                "move " + move_id_ +
                    " is being run by another migrator; try again when its lease of " +
                    std::to_string(duration_.count()) + " ms has run out");
}

Lease::~Lease() { catalog_.release_lease(move_id_, holder_); }

void Lease::hold() {
  const TimePoint now = clock_.now();
  if (now - renewed_ < duration_ / 3) return;
  if (!catalog_.take_lease(move_id_, holder_, duration_))
    throw Error(ErrorCode::lease_lost, "move " + move_id_ + " was taken over by another migrator");
  renewed_ = now;
}

}  // namespace ringshard
