#include <chrono>
#include <ringshard/error.hpp>
#include <utility>

#include "backend/portable/portable.hpp"
#include "backend/source.hpp"
#include "setup/common.hpp"
#include "setup/engine_schema.hpp"
#include "setup/fleet.hpp"
#include "setup/schema_split.hpp"
#include "setup/setup.hpp"
#include "setup/source_check.hpp"

namespace ringshard {

namespace setup {
namespace {

/// Of rows that wait to be written.
constexpr std::size_t rows_bytes_max = std::size_t{32} << 20;
constexpr std::int64_t rows_between_reports = 1000;

std::string kind_of(const TableDefinition& table) {
  if (table.reference) return "reference";
  return table.parent.empty() ? "key" : "parent";
}

double seconds_since(Clock& clock, TimePoint start) {
  return std::chrono::duration<double>(clock.now() - start).count();
}

class Import {
 public:
  Import(const Config& config, const std::string& from, Clock& clock, Progress& progress)
      : config_(config),
        from_(from),
        clock_(clock),
        progress_(progress),
        start_(clock.now()),
        options_(to_backend_options(config)),
        catalog_(Catalog::open(config.catalog, clock)),
        definition_(to_definition(config.keyspace)),
        key_(KeySpec::parse(definition_.key_type)),
        division_(key_, definition_.tables),
        source_(open_source(from, clock)) {}

  ImportReport run() {
    require_waiting();
    // One snapshot from the first look to the last comparison.
    SessionTransaction snapshot(*source_.session, TxMode::read, Deadline());
    check_source();
    setup_id_ = catalog_.begin_setup(definition_.name);
    NewFleet fleet(catalog_.topology(definition_.name, true), options_, clock_);
    fleet.drop_homes(progress_);
    fleet.make_homes(definition_.schemas, progress_);
    read_digests();
    load(fleet);
    raise_counters(fleet);
    compare(fleet);
    definition_.state = KeyspaceState::ready;
    catalog_.finish_setup(setup_id_, definition_);
    report_.homes = definition_.shard_count;
    report_.seconds = seconds_since(clock_, start_);
    return std::move(report_);
  }

 private:
  void require_waiting() {
    const auto stored = catalog_.keyspace(definition_.name);
    if (!stored)
      throw Error(ErrorCode::not_found, "the catalog has no keyspace '" + definition_.name +
                                            "': run `ringshard init` first, without a schema file");
    if (stored->state == KeyspaceState::ready)
      throw Error(ErrorCode::refused, "keyspace '" + definition_.name +
                                          "' is ready and in use: an import only fills a new one");
    if (stored->key_type != definition_.key_type || stored->hash != definition_.hash ||
        stored->shard_count != definition_.shard_count)
      throw Error(ErrorCode::config, "keyspace '" + definition_.name + "' was made with key " +
                                         stored->key_type + ", hash " +
                                         std::string(to_string(stored->hash)) + " and " +
                                         std::to_string(stored->shard_count) +
                                         " shards, which are fixed: correct the configuration");
  }

  void check_source() {
    const std::string headline = "the database " + from_ + " can not be imported:";
    progress_.report("check the source", 0, 1, "databases");
    Problems problems;
    const HomeSchema schema = source_.dialect.describe_schema(*source_.session);
    note_obstacles(*source_.session, source_.dialect, problems);
    division_.check(schema, problems);
    problems.throw_if_any(headline);
    check_rows(source_, division_, definition_.hash, definition_.shard_count, problems);
    const std::vector<NodeInfo> nodes = catalog_.nodes(definition_.name);
    require_usable(nodes, options_, clock_);
    for (const auto& [engine, node] : first_of_each_engine(nodes)) {
      if (engine == source_.dialect.engine()) {
        definition_.schemas[engine] = divide_source(*node, problems);
      } else {
        definition_.schemas[engine] = read_schema(config_.keyspace, *node, options_, clock_);
        form_ = RowForm::portable;
        require_fitting(schema, definition_.schemas[engine], problems);
      }
      // The tables as the database has them that knows what their columns hold.
      if (form_ == RowForm::native || engine != source_.dialect.engine())
        layout_ = definition_.schemas[engine];
      problems.throw_if_any(headline);
    }
    progress_.report("check the source", 1, 1, "databases");
  }

  KeyspaceSchema divide_source(const NodeInfo& node, Problems& problems) {
    const auto backend = open_backend(node.dsn, clock_, options_);
    ScratchHomes scratch(*backend, definition_.name);
    SplitSchema split = split_schema(source_, division_, scratch, Leftovers::note, problems);
    report_.notes = std::move(split.notes);
    return {std::move(split.home), std::move(split.reference)};
  }

  static void require_fitting(const HomeSchema& source, const KeyspaceSchema& target,
                              Problems& problems) {
    HomeSchema whole = target.home;
    whole.tables.insert(whole.tables.end(), target.reference.tables.begin(),
                        target.reference.tables.end());
    for (const Obstacle& obstacle : portable::obstacles(whole, source))
      problems.add("table '" + obstacle.object + "' " + obstacle.reason);
  }

  /// The tables as they stand in the source: home tables first, then reference tables.
  void read_digests() {
    std::int64_t done = 0;
    const auto total = static_cast<std::int64_t>(division_.tables().size());
    for (const HomeSchema* schema : {&layout_.home, &layout_.reference})
      for (const Table& table : schema->tables) {
        ImportedTable imported;
        imported.name = table.name;
        imported.kind = kind_of(*division_.find(table.name));
        imported.digest = source_.dialect.digest(*source_.session, table, KeyRange{}, form_);
        report_.rows += imported.digest.rows;
        report_.tables.push_back(std::move(imported));
        progress_.report("read checksums", ++done, total, "tables");
      }
  }

  void load(NewFleet& fleet) {
    Loader loader(fleet, rows_bytes_max,
                  [this] { catalog_.check_setup(setup_id_, definition_.name); });
    std::size_t position = 0;
    for (const HomeSchema* schema : {&layout_.home, &layout_.reference})
      for (const Table& table : schema->tables) {
        ImportedTable& imported = report_.tables[position++];
        const TimePoint start = clock_.now();
        const std::int64_t rows = imported.kind == "reference" ? load_reference(loader, table)
                                                               : load_sharded(loader, table);
        imported.seconds = seconds_since(clock_, start);
        if (rows != imported.digest.rows)
          throw Error(ErrorCode::differs, "of " + std::to_string(imported.digest.rows) +
                                              " rows of table '" + table.name + "' " +
                                              std::to_string(rows) + " found their shard");
      }
    loader.flush();
    progress_.report("copy rows", rows_copied_, report_.rows, "rows");
  }

  void count_row() {
    if (++rows_copied_ % rows_between_reports == 0)
      progress_.report("copy rows", rows_copied_, report_.rows, "rows");
  }

  std::int64_t load_sharded(Loader& loader, const Table& table) {
    const TableDefinition& definition = *division_.find(table.name);
    const std::size_t width = key_.parts().size();
    std::string columns;
    for (const std::string& column : table.columns) columns += ", t0." + quoted(column);
    std::int64_t rows = 0;
    source_.session->for_each("SELECT " + division_.key_columns(definition, "t") + columns + " " +
                                  division_.from(definition, "t"),
                              {}, [&](RowView row) {
                                const KeyValue key = key_of(row.first(width), key_);
                                loader.add(shard_of(definition_.hash, key, definition_.shard_count),
                                           table, row.subspan(width));
                                ++rows;
                                count_row();
                                return true;
                              });
    return rows;
  }

  std::int64_t load_reference(Loader& loader, const Table& table) {
    std::int64_t rows = 0;
    source_.session->for_each(
        "SELECT " + quoted_list(table.columns) + " FROM " + quoted(table.name), {},
        [&](RowView row) {
          loader.add_to_all(table, row);
          ++rows;
          count_row();
          return true;
        });
    return rows;
  }

  // A new row must not get an id that a row of the source had, in whichever home it is made.
  void raise_counters(NewFleet& fleet) {
    std::vector<Counter> sharded;
    std::vector<Counter> reference;
    for (Counter& counter : source_.dialect.counters(*source_.session)) {
      if (division_.is_sharded(counter.name))
        sharded.push_back(std::move(counter));
      else if (division_.is_reference(counter.name))
        reference.push_back(std::move(counter));
    }
    // Another kind of database may need a counter where the source went by its greatest id.
    const bool foreign = form_ == RowForm::portable;
    for_each_home(fleet, TxMode::write, sharded.empty() && !foreign,
                  layout_.reference.statements.empty() || (reference.empty() && !foreign),
                  [&](NewFleet::Work& work, const Dialect& dialect, bool is_reference) {
                    ringshard::raise_counters(dialect, *work.session,
                                              is_reference ? reference : sharded,
                                              form_between(dialect, source_.dialect));
                  });
  }

  template <class Function>
  void for_each_home(NewFleet& fleet, TxMode mode, bool skip_shards, bool skip_reference,
                     const Function& function) {
    const auto visit = [&](const Place& place, bool is_reference) {
      const auto work = fleet.begin(place, mode);
      function(*work, fleet.backend(place.node).dialect(), is_reference);
      work->tx->commit();
    };
    for (std::uint32_t shard = 0; !skip_shards && shard < definition_.shard_count; ++shard)
      visit(fleet.shard_home(ShardId{shard}), false);
    for (std::size_t node = 0; !skip_reference && node < fleet.node_count(); ++node)
      visit(fleet.reference_home(node), true);
  }

  void compare(NewFleet& fleet) {
    std::vector<Digest> in_homes;
    std::int64_t done = 0;
    for_each_home(fleet, TxMode::read, false, layout_.reference.statements.empty(),
                  [&](NewFleet::Work& work, const Dialect& dialect, bool is_reference) {
                    if (is_reference) return compare_reference(*work.session, dialect);
                    add_digests(*work.session, dialect, layout_.home, form_, in_homes);
                    progress_.report("compare", ++done, definition_.shard_count, "homes");
                  });
    for (std::size_t i = 0; i < in_homes.size(); ++i) require_equal(i, in_homes[i], "all homes");
  }

  void compare_reference(Session& session, const Dialect& dialect) {
    std::vector<Digest> digests;
    add_digests(session, dialect, layout_.reference, form_, digests);
    for (std::size_t i = 0; i < digests.size(); ++i)
      require_equal(layout_.home.tables.size() + i, digests[i], "a reference home");
  }

  void require_equal(std::size_t position, const Digest& found, const std::string& where) const {
    const ImportedTable& table = report_.tables[position];
    if (table.digest == found) return;
    throw Error(ErrorCode::differs, "table '" + table.name +
                                        "' is not the same after the import: the source has " +
                                        table.digest.str() + ", " + where + " have " + found.str() +
                                        "; the keyspace stays unusable, run the import again");
  }

  const Config& config_;
  const std::string from_;
  Clock& clock_;
  Progress& progress_;
  const TimePoint start_;
  const BackendOptions options_;
  Catalog catalog_;
  KeyspaceDefinition definition_;
  const KeySpec key_;
  const Division division_;
  SourceDatabase source_;
  KeyspaceSchema layout_;           // the tables, as they are compared
  RowForm form_ = RowForm::native;  // in which they are compared
  std::string setup_id_;
  ImportReport report_;
  std::int64_t rows_copied_ = 0;
};

}  // namespace
}  // namespace setup

ImportReport import_database(const Config& config, const std::string& from, Clock& clock,
                             Progress& progress) {
  return setup::Import(config, from, clock, progress).run();
}

}  // namespace ringshard
