// A wish that another migrator's move overtakes.

#include <ringshard/error.hpp>
#include <string>
#include <thread>

#include "cli/fleet.hpp"
#include "support/catch.hpp"
#include "support/fault.hpp"

using namespace ringshard;
using ringshard::testing::CommandFleet;
using ringshard::testing::Ran;

namespace {

/// Gives `wish` as a command of its own while another migrator runs the only move past `point`.
Ran wish_at(const CommandFleet& fleet, FaultPoint point, const std::string& wish,
            const std::string& running) {
  Ran ran;
  std::thread operator_of_wish;
  fault::set_handler([&, done = false](FaultPoint reached) mutable {
    if (reached != point || done) return;
    done = true;
    operator_of_wish = std::thread([&] { ran = fleet.run(wish + " --all --wait 30s"); });
    const auto is_stored = [&] {
      for (const MoveRecord& move : fleet.open().catalog.moves("shop", true))
        if (move.wish != MoveWish::none) return true;
      return false;
    };
    while (!is_stored()) std::this_thread::yield();
  });
  fleet.done(running);
  fault::set_handler({});
  REQUIRE(operator_of_wish.joinable());
  operator_of_wish.join();
  return ran;
}

}  // namespace

TEST_CASE("an abort that came after the cutover was decided does not end well") {
  CommandFleet fleet({"a"}, 1);
  fleet.fill(5);
  fleet.configure({"a:draining", "b"});
  const Ran late = wish_at(fleet, FaultPoint::cutover_decided, "abort", "apply --observe-for 0s");
  INFO(late.out << late.err);
  CHECK(late.exit_code != 0);
  CHECK(late.out.find("too late") != std::string::npos);
  CHECK(fleet.node_of(0) == "b");
}
