#include "router/retry.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <thread>

namespace ringshard::router {

namespace {

constexpr std::chrono::microseconds wait_min{500};
constexpr std::chrono::microseconds wait_max{100'000};

// Between half of `wait` and all of it, so that those who failed together do not come back
// together.
std::chrono::microseconds with_jitter(std::chrono::microseconds wait) {
  static thread_local std::minstd_rand random(
      static_cast<std::minstd_rand::result_type>(
          std::hash<std::thread::id>()(std::this_thread::get_id())) |
      1U);
  std::uniform_int_distribution<std::int64_t> between(wait.count() / 2, wait.count());
  return std::chrono::microseconds(between(random));
}

}  // namespace

void Retry::wait_after(const Error& error) {
  const bool no_owner = error.code() == ErrorCode::not_owner;
  std::uint32_t& failed = no_owner ? rounds_ : attempts_;
  ++failed;
  if (failed >= (no_owner ? limits_.rounds_max : limits_.attempts_max)) give_up(error);
  const std::uint32_t doublings = std::min(attempts_ + rounds_ - 1, 16U);
  const auto wait = with_jitter(std::min(wait_max, wait_min * (1U << doublings)));
  if (wait >= limits_.deadline.left(clock_)) give_up(error);
  clock_.sleep_for(wait);
  Counters::count(counters_.retries);
}

void Retry::give_up(const Error& error) const {
  const auto spent =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - began_).count();
  Error last(error.code(), std::string(error.what()) + " (gave up after " +
                               std::to_string(attempts_ + rounds_) + " attempt(s) in " +
                               std::to_string(spent) + " ms)");
  last.with_shard(shard_).with_sqlstate(error.sqlstate());
  throw last;
}

}  // namespace ringshard::router
