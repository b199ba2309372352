#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "catalog/records.hpp"
#include "support/clock.hpp"

// What can be asked of the program ringshard, as plain values. Parsing reads nothing but its
// arguments and changes nothing.

namespace ringshard::cli {

/// What every command takes.
struct CommonOptions {
  std::filesystem::path config = "ringshard.yaml";
  bool json = false;     ///< the result as JSON on standard output, an error too
  bool verbose = false;  ///< debug messages on standard error
  bool quiet = false;    ///< neither progress nor anything below errors on standard error
};

/// What the planner balances.
enum class BalanceBy : std::uint8_t { shards, rows, bytes };

std::string_view to_string(BalanceBy by) noexcept;

struct PlanningOptions {
  BalanceBy by = BalanceBy::shards;
  double tolerance = 0;  ///< a part of a node's due, 0 … 1 (1 itself is too much)
  std::optional<std::size_t> moves_max;
};

struct InitOptions {
  CommonOptions common;
};

struct ImportOptions {
  CommonOptions common;
  std::string from;  ///< "sqlite:FILE"
};

struct RouteOptions {
  CommonOptions common;
  std::string key;
  bool explain = false;
};

struct RingOptions {
  CommonOptions common;
};

struct PlanOptions {
  CommonOptions common;
  PlanningOptions planning;
  std::optional<std::filesystem::path> out;
};

struct PreflightOptions {
  CommonOptions common;
  PlanningOptions planning;
};

struct ApplyOptions {
  CommonOptions common;
  PlanningOptions planning;
  std::optional<std::filesystem::path> plan;  ///< without it: plan now
  bool yes = false;                           ///< do not ask on a terminal
  std::optional<Duration> observe_for;
};

struct StatusOptions {
  CommonOptions common;
  std::optional<std::string> move;
  bool all = false;  ///< finished moves in the text too; the JSON always has them
};

struct VerifyOptions {
  CommonOptions common;
  // At most one of these three; none of them: everything.
  std::optional<std::uint32_t> shard;
  std::optional<double> sample;  ///< a part of the shards, more than 0, at most 1
  std::optional<std::string> move;
  std::optional<std::uint64_t> seed;  ///< of the sample
  bool repair = false;
};

/// Which moves: by id, those of one shard, or all that are not finished.
struct MoveSelection {
  std::vector<std::string> moves;
  std::optional<std::uint32_t> shard;
  bool all = false;
};

struct ResumeOptions {
  CommonOptions common;
  MoveSelection selection;  ///< nothing selected: all
  bool repair = false;
};

/// pause, abort, rollback and finalize.
struct WishOptions {
  CommonOptions common;
  MoveWish wish = MoveWish::pause;
  MoveSelection selection;
  Duration wait = std::chrono::seconds(30);  ///< for another migrator to obey
};

struct DoctorOptions {
  CommonOptions common;
  bool mend = false;
  std::optional<std::string>
      reference_from;  ///< node whose reference home the others are made equal to
};

struct EventsOptions {
  CommonOptions common;
  std::int64_t limit = 50;
};

/// Print the text on standard output and be done.
struct HelpRequest {
  std::string text;
};

/// The arguments make no sense; the text says which and what would.
struct UsageError {
  std::string text;
  bool json = false;  ///< --json was among the arguments
};

using Command = std::variant<HelpRequest, UsageError, InitOptions, ImportOptions, RouteOptions,
                             RingOptions, PlanOptions, PreflightOptions, ApplyOptions, StatusOptions, VerifyOptions,
                             ResumeOptions, WishOptions, DoctorOptions, EventsOptions>;

/// Reads the arguments after the program's name. Never throws for anything that they hold.
///
///     const Command command = parse({"route", "42", "--explain"});
Command parse(std::span<const std::string> arguments);

/// The options that every command has; nothing for help and usage errors.
const CommonOptions* common_options(const Command& command) noexcept;

}  // namespace ringshard::cli
