#include "migrator/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <ringshard/error.hpp>
#include <ringshard/ids.hpp>
#include <utility>

#include "config/scalars.hpp"
#include "migrator/option_values.hpp"

namespace ringshard::cli {
namespace {

constexpr std::string_view version_text = "ringshard 0.1.0";

constexpr const char* description =
    "Moves the shards of an application's database between nodes while the application runs.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 differences found or outcome unknown, 75 try again.";

/// Text → value, with the message of a failure in CLI11's words.
template <class Target, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, Target& target,
                        const std::string& help, Parse parse) {
  return app.add_option_function<std::string>(
      name,
      [&target, name, parse](const std::string& text) {
        try {
          target = parse(text);
        } catch (const Error& error) {
          throw CLI::ValidationError(name, error.what());
        }
      },
      help);
}

/// Everything that the arguments are read into: one of it is the result.
struct Parsed {
  InitOptions init;
  ImportOptions import;
  RouteOptions route;
  RingOptions ring;
  PlanOptions plan;
  PreflightOptions preflight;
  ApplyOptions apply;
  StatusOptions status;
  VerifyOptions verify;
  ResumeOptions resume;
  WishOptions pause;
  WishOptions abort;
  WishOptions rollback;
  WishOptions finalize;
  DoctorOptions doctor;
  EventsOptions events;
};

class Parser {
 public:
  Parser() : app_(description, "ringshard") {
    app_.set_version_flag("--version", std::string(version_text));
    app_.require_subcommand(1);
    app_.fallthrough(false);
    add_init();
    add_import();
    add_route();
    add_ring();
    add_plan();
    add_preflight();
    add_apply();
    add_status();
    add_verify();
    add_resume();
    add_wish("pause", "Stop moves between two steps; `resume` goes on with them",
             "ringshard pause --all", MoveWish::pause, parsed_.pause);
    add_wish("abort", "Give moves up before their cutover; the source goes on alone",
             "ringshard abort --shard 17", MoveWish::abort, parsed_.abort);
    add_wish("rollback", "Take shards back to their source, with all that was written since",
             "ringshard rollback --shard 17", MoveWish::roll_back, parsed_.rollback);
    add_wish("finalize", "End the observation of moves now and remove their old homes",
             "ringshard finalize --all", MoveWish::finalize, parsed_.finalize);
    add_doctor();
    add_events();
  }

  Command run(std::span<const std::string> arguments) {
    if (const auto unknown = unknown_command(arguments)) return usage(*unknown, arguments);
    // CLI11 takes them from the end.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
      app_.parse(std::move(reversed));
      for (const auto& [command, result] : commands_)
        if (command->parsed()) return result();
    } catch (const CLI::CallForHelp&) {
      return HelpRequest{help()};
    } catch (const CLI::CallForAllHelp&) {
      return HelpRequest{app_.help("", CLI::AppFormatMode::All)};
    } catch (const CLI::CallForVersion&) {
      return HelpRequest{std::string(version_text) + "\n"};
    } catch (const CLI::ParseError& error) {
      return usage(error.what(), arguments);
    } catch (const Error& error) {
      return usage(error.what(), arguments);
    }
    return usage("no command was given", arguments);
  }

 private:
  /// CLI11 says only that a command is missing.
  std::optional<std::string> unknown_command(std::span<const std::string> arguments) const {
    if (arguments.empty() || arguments.front().starts_with('-')) return std::nullopt;
    std::vector<std::string> names;
    for (const auto& [command, result] : commands_) names.push_back(command->get_name());
    if (std::ranges::find(names, arguments.front()) != names.end()) return std::nullopt;
    return "there is no command '" + arguments.front() + "'" +
           config::suggestion(arguments.front(), names);
  }

  std::string help() const {
    for (const auto& [command, result] : commands_)
      if (command->parsed()) return command->help();
    return app_.help();
  }

  UsageError usage(const std::string& what, std::span<const std::string> arguments) const {
    std::string text = what;
    std::string of = "ringshard --help";
    for (const auto& [command, result] : commands_)
      if (command->parsed()) of = "ringshard " + command->get_name() + " --help";
    text += "; see `" + of + "`";
    return {text, std::ranges::find(arguments, std::string("--json")) != arguments.end()};
  }

  template <class Options>
  CLI::App& add(const std::string& name, const std::string& help, const std::string& example,
                Options& options) {
    CLI::App& command = *app_.add_subcommand(name, help);
    command.footer("Example: " + example);
    command.add_option("--config", options.common.config, "Configuration file")
        ->type_name("FILE")
        ->capture_default_str();
    command.add_flag("--json", options.common.json, "The result as JSON on standard output");
    auto* verbose =
        command.add_flag("--verbose", options.common.verbose, "Debug messages on standard error");
    command.add_flag("--quiet", options.common.quiet, "No progress, only errors")
        ->excludes(verbose);
    commands_.emplace_back(&command, [&options] { return Command(options); });
    return command;
  }

  void add_init() {
    add("init", "Make catalog, nodes and, where a schema is given, the empty homes",
        "ringshard init --config ringshard.yaml", parsed_.init);
  }

  void add_import() {
    CLI::App& command =
        add("import", "Load an existing, unsharded database into the homes of a new keyspace",
            "ringshard import --from sqlite:shop.db", parsed_.import);
    command.add_option("--from", parsed_.import.from, "The database: sqlite:FILE")
        ->type_name("DSN")
        ->required();
  }

  void add_route() {
    CLI::App& command =
        add("route", "Where a key lives", "ringshard route 4711 --explain", parsed_.route);
    command
        .add_option("key", parsed_.route.key,
                    "The key: a number, text, a UUID, hexadecimal "
                    "bytes; parts of a composite with commas between them")
        ->type_name("KEY")
        ->required();
    command.add_flag("--explain", parsed_.route.explain,
                     "Bytes, hash, epoch, home record and stage of a move too");
  }

  void add_ring() {
    add("ring", "Nodes with weight, shards and quota; skew of the ring, balance",
        "ringshard ring --json", parsed_.ring);
  }

  void add_planning(CLI::App& command, PlanningOptions& planning) {
    add_parsed(command, "--by", planning.by, "What to balance: shards (default), rows or bytes",
               parse_balance_by)
        ->type_name("WHAT");
    add_parsed(command, "--tolerance", planning.tolerance,
               "Leave a node alone that is this near to its due, such as 10%", parse_tolerance)
        ->type_name("PART");
    add_parsed(command, "--max-moves", planning.moves_max, "Plan no more moves than this",
               [](const std::string& text) {
                 return static_cast<std::size_t>(parse_number(text, 0, shard_count_max));
               })
        ->type_name("NUMBER");
  }

  void add_plan() {
    CLI::App& command =
        add("plan",
            "Compare the configured nodes with the catalog and print the moves; changes "
            "nothing",
            "ringshard plan --out plan.json", parsed_.plan);
    add_planning(command, parsed_.plan.planning);
    command.add_option("--out", parsed_.plan.out, "Write the plan to a file for `apply --plan`")
        ->type_name("FILE");
  }

  void add_preflight() {
    CLI::App& command =
        add("preflight", "Look for what would stop or hold up the moves of a plan; changes nothing",
            "ringshard preflight", parsed_.preflight);
    add_planning(command, parsed_.preflight.planning);
  }

  void add_apply() {
    ApplyOptions& options = parsed_.apply;
    CLI::App& command =
        add("apply", "Run a plan: move the shards", "ringshard apply --plan plan.json", options);
    auto* plan = command.add_option("--plan", options.plan,
                                    "Run exactly this plan; without it, plan now and run that");
    plan->type_name("FILE");
    add_planning(command, options.planning);
    for (const char* name : {"--by", "--tolerance", "--max-moves"})
      command.get_option(name)->excludes(plan);
    command.add_flag("--yes", options.yes, "Do not ask on a terminal");
    add_parsed(command, "--observe-for", options.observe_for,
               "Keep the way back this long after a cutover, instead of move.observe_for",
               parse_duration)
        ->type_name("DURATION");
  }

  void add_status() {
    CLI::App& command = add("status", "Nodes and moves as the catalog has them",
                            "ringshard status --json", parsed_.status);
    command.add_option("--move", parsed_.status.move, "One move, in full")->type_name("MOVE");
    command.add_flag("--all", parsed_.status.all, "Finished moves too");
  }

  void add_verify() {
    VerifyOptions& options = parsed_.verify;
    CLI::App& command = add("verify", "Check homes, rows, records and reference data",
                            "ringshard verify --sample 10%", options);
    auto* shard = add_parsed(command, "--shard", options.shard, "Only this shard", parse_shard);
    shard->type_name("SHARD");
    auto* sample = add_parsed(command, "--sample", options.sample,
                              "Only a random part of the shards, such as 10%", parse_sample);
    sample->type_name("PART")->excludes(shard);
    command.add_option("--move", options.move, "Only the shard of this move")
        ->type_name("MOVE")
        ->excludes(shard)
        ->excludes(sample);
    add_parsed(command, "--seed", options.seed, "The sample's seed, to draw the same one again",
               [](const std::string& text) { return parse_number(text, 0, UINT64_MAX); })
        ->type_name("NUMBER")
        ->needs(sample);
    command.add_flag("--repair", options.repair,
                     "Make the mirror of a move equal where it differs from the owner");
  }

  void add_selection(CLI::App& command, MoveSelection& selection) {
    auto* moves = command.add_option("moves", selection.moves, "Ids of moves")->type_name("MOVE");
    auto* shard = add_parsed(command, "--shard", selection.shard,
                             "The unfinished move of this shard", parse_shard);
    shard->type_name("SHARD")->excludes(moves);
    command.add_flag("--all", selection.all, "All unfinished moves for which it is possible")
        ->excludes(moves)
        ->excludes(shard);
  }

  void add_resume() {
    ResumeOptions& options = parsed_.resume;
    CLI::App& command = add("resume", "Go on with moves that were paused, failed or broken off",
                            "ringshard resume --all", options);
    add_selection(command, options.selection);
    command.add_flag("--repair", options.repair, "Mend differences that verification finds");
  }

  void add_wish(const std::string& name, const std::string& help, const std::string& example,
                MoveWish wish, WishOptions& options) {
    options.wish = wish;
    CLI::App& command = add(name, help, example, options);
    add_selection(command, options.selection);
    add_parsed(command, "--wait", options.wait,
               "How long to wait for another migrator that runs the move to obey (30s)",
               parse_duration)
        ->type_name("DURATION");
    commands_.back().second = [&options, name] {
      const MoveSelection& chosen = options.selection;
      if (chosen.moves.empty() && !chosen.shard && !chosen.all)
        throw Error(ErrorCode::invalid_argument,
                    name + " needs the id of a move, --shard or --all");
      return Command(options);
    };
  }

  void add_doctor() {
    CLI::App& command = add("doctor", "Find what is half done, left over or in disagreement",
                            "ringshard doctor --mend", parsed_.doctor);
    command.add_flag("--mend", parsed_.doctor.mend, "Mend what can be mended safely");
    command
        .add_option("--reference-from", parsed_.doctor.reference_from,
                    "Make the reference home of every node equal to that of this one")
        ->type_name("NODE");
  }

  void add_events() {
    CLI::App& command = add("events", "The audit log of the keyspace, the newest first",
                            "ringshard events --limit 20", parsed_.events);
    add_parsed(command, "--limit", parsed_.events.limit, "At most so many (50)",
               [](const std::string& text) {
                 return static_cast<std::int64_t>(parse_number(text, 1, 1'000'000));
               })
        ->type_name("NUMBER");
  }

  Parsed parsed_;
  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::function<Command()>>> commands_;
};

}  // namespace

Command parse(std::span<const std::string> arguments) { return Parser().run(arguments); }

const CommonOptions* common_options(const Command& command) noexcept {
  return std::visit(
      [](const auto& options) -> const CommonOptions* {
        if constexpr (requires { options.common; })
          return &options.common;
        else
          return nullptr;
      },
      command);
}

}  // namespace ringshard::cli
