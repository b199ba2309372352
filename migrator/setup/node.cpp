#include <chrono>
#include <ringshard/error.hpp>

#include "backend/home_store.hpp"
#include "backend/portable/portable.hpp"
#include "setup/common.hpp"
#include "setup/setup.hpp"

namespace ringshard {

namespace setup {
namespace {

constexpr std::size_t chunk_rows = 5000;
constexpr std::size_t chunk_bytes = std::size_t{8} << 20;
constexpr std::chrono::seconds lock_wait_max{10};

/// A reference home, open, with a transaction begun.
class ReferenceHome {
 public:
  ReferenceHome(Backend& backend, const HomeName& home, TxMode mode, Clock& clock)
      : backend_(backend),
        session_(backend.connect(home, SessionUse::maintenance)),
        tx_(*session_, home, mode, Deadline::after(clock, lock_wait_max)),
        store_(*session_, backend.dialect()) {}

  HomeStore& store() { return store_; }
  void commit() { tx_.commit(); }
  HomeSchema schema() { return backend_.dialect().describe_schema(*session_); }
  const Dialect& dialect() const noexcept { return backend_.dialect(); }
  std::vector<Counter> counters() { return dialect().counters(*session_); }
  void raise(const std::vector<Counter>& counters, RowForm form) {
    raise_counters(dialect(), *session_, counters, form);
  }
  std::vector<Digest> digests(const HomeSchema& schema, RowForm form) {
    std::vector<Digest> digests;
    add_digests(*session_, dialect(), schema, form, digests);
    return digests;
  }

 private:
  Backend& backend_;
  std::unique_ptr<Session> session_;
  SessionTransaction tx_;
  HomeStore store_;
};

void copy_table(ReferenceHome& from, ReferenceHome& to, const Table& table, std::int64_t& rows,
                Progress& progress, const std::string& stage) {
  std::optional<Row> after;
  for (bool complete = false; !complete;) {
    RowBatch batch;
    complete = from.store().read_chunk(table, after, chunk_rows, chunk_bytes, batch);
    if (batch.empty()) return;
    const std::int64_t inserted = to.store().insert_missing(table, batch);
    if (inserted != static_cast<std::int64_t>(batch.size()))
      throw Error(ErrorCode::differs, "a copy of reference table '" + table.name + "' took " +
                                          std::to_string(inserted) + " of " +
                                          std::to_string(batch.size()) + " rows");
    after = primary_key_of(table, batch[batch.size() - 1]);
    rows += inserted;
    progress.report(stage, rows, 0, "rows");
  }
}

/// The tables as the side has them that knows what their columns hold.
HomeSchema comparable_tables(const HomeSchema& left, const HomeSchema& right) {
  Problems problems;
  for (const Obstacle& obstacle : portable::obstacles(left, right))
    problems.add("table '" + obstacle.object + "' " + obstacle.reason);
  problems.throw_if_any("the reference tables can not be copied to another kind of database:");
  return portable::typed_of(left, right);
}

/// All of it in one transaction of each side, so a copy that breaks off leaves an empty home.
void copy_rows(ReferenceHome& from, Backend& backend, const HomeName& home, const std::string& node,
               Clock& clock, Progress& progress) {
  ReferenceHome to(backend, home, TxMode::write, clock);
  const RowForm form = form_between(from.dialect(), to.dialect());
  const HomeSchema tables =
      form == RowForm::native ? from.schema() : comparable_tables(from.schema(), to.schema());
  const std::string stage = "copy reference tables to " + node;
  std::int64_t rows = 0;
  for (const Table& table : tables.tables) copy_table(from, to, table, rows, progress, stage);
  to.raise(from.counters(), form);
  if (to.digests(tables, form) != from.digests(tables, form))
    throw Error(ErrorCode::differs,
                "the reference tables copied to node '" + node + "' are not those of the others");
  to.commit();
  progress.report(stage, rows, rows, "rows");
}

/// The reference home of the same kind of database is there already, and equal.
bool is_equal(ReferenceHome& from, Backend& backend, const HomeName& home, Clock& clock) {
  if (form_between(from.dialect(), backend.dialect()) != RowForm::native) return false;
  if (!backend.home_exists(home)) return false;
  ReferenceHome to(backend, home, TxMode::read, clock);
  const HomeSchema schema = from.schema();
  return !difference(to.schema(), schema) &&
         to.digests(schema, RowForm::native) == from.digests(schema, RowForm::native);
}

/// A node that has the reference home, other than the one that is to get it.
std::unique_ptr<Backend> find_origin(const Topology& topology, const std::string& node,
                                     const HomeName& home, const BackendOptions& options,
                                     Clock& clock) {
  for (const NodeInfo& other : topology.nodes()) {
    if (other.name == node || other.state == NodeState::removed) continue;
    const auto index = topology.find_node(other.name);
    if (topology.shards_of(*index).empty()) continue;  // may be a half-made copy itself
    auto backend = open_backend(other.dsn, clock, options);
    if (backend->home_exists(home)) return backend;
  }
  throw Error(ErrorCode::not_found, "no other node has the reference tables of keyspace '" +
                                        topology.keyspace() + "' to be copied to node '" + node +
                                        "'");
}

}  // namespace
}  // namespace setup

void add_node_homes(Catalog& catalog, std::string_view keyspace, const NodeInfo& node,
                    const BackendOptions& options, Clock& clock, Progress& progress) {
  using namespace setup;
  const Topology topology = catalog.topology(keyspace);
  const KeyspaceDefinition definition = catalog.keyspace(keyspace).value();
  const auto backend = open_backend(node.dsn, clock, options);
  backend->prepare_node();
  backend->ping();
  if (!definition.has_reference_tables()) return;

  const HomeName home{std::string(keyspace), std::nullopt};
  const auto index = topology.find_node(node.name);
  const bool in_use = index && !topology.shards_of(*index).empty();
  if (in_use && backend->home_exists(home)) return;
  const auto origin = find_origin(topology, node.name, home, options, clock);
  ReferenceHome from(*origin, home, TxMode::read, clock);
  if (is_equal(from, *backend, home, clock)) return;
  const std::string_view engine = backend->dialect().engine();
  const bool same_kind = form_between(from.dialect(), backend->dialect()) == RowForm::native;
  backend->drop_home(home);
  backend->create_home(
      home, std::nullopt,
      same_kind ? from.schema() : definition.schemas.find(engine)->second.reference);
  copy_rows(from, *backend, home, node.name, clock, progress);
}

}  // namespace ringshard
