#include "mover/home_pair.hpp"

#include <ringshard/error.hpp>

#include "backend/portable/portable.hpp"
#include "core/home_text.hpp"
#include "support/fault.hpp"

namespace ringshard {
namespace {

/// Records of one leg are equal in all but the mover, whose difference means something else, and
/// what a cutover that was not decided left there.
void require_record(const std::optional<HomeRecord>& found, const HomeRecord& expected,
                    const std::string& node) {
  HomeRecord comparable = expected;
  if (found) comparable.mover = found->mover;
  if (found) comparable.certificate = found->certificate;
  if (found != comparable)
    throw Error(ErrorCode::refused, "home " + HomeName{expected.keyspace, expected.shard}.str() +
                                        " on node '" + node + "' says " + describe(found) +
                                        ", expected " + describe(expected))
        .with_shard(expected.shard);
  if (found->mover != expected.mover)
    throw Error(ErrorCode::lease_lost,
                "move " + expected.move_id + " is run by " + found->mover + " now")
        .with_shard(expected.shard);
}

/// Where writers share the lock, only an exclusive one makes them wait.
bool holds_up_writers(const HomeStore& store, TxMode mode) {
  return mode == TxMode::exclusive ||
         (mode == TxMode::write && !store.dialect().quirks().concurrent_writers);
}

}  // namespace

Leg Leg::next() const {
  Leg leg = *this;
  leg.number = number + 1;
  leg.owner = mirror;
  leg.mirror = owner;
  return leg;
}

HomeRecord Leg::owner_record() const {
  return HomeRecord{home.keyspace, *home.shard, Role::owner, number, mirror, move_id, mover, {}};
}

HomeRecord Leg::mirror_record() const {
  return HomeRecord{home.keyspace, *home.shard, Role::mirror, number, owner, move_id, mover, {}};
}

void HomePair::disconnect() noexcept {
  owner_ = {};
  mirror_ = {};
}

HomeStore& HomePair::connected(Side& side, const std::string& node) {
  if (!side.session || !side.session->usable()) {
    side = {};
    Backend& backend = nodes_.at(node);
    side.session = backend.connect(leg_.home, SessionUse::maintenance);
    side.store = std::make_unique<HomeStore>(*side.session, backend.dialect());
  }
  return *side.store;
}

OwnerTransaction::OwnerTransaction(HomePair& pair, TxMode mode, Deadline lock_deadline)
    : store_(pair.owner()), tx_(store_.session(), pair.home(), mode, lock_deadline) {
  if (holds_up_writers(store_, mode)) watch_.emplace(pair.clock());
  require_record(tx_.record(), pair.leg().owner_record(), pair.leg().owner);
  if (mode != TxMode::read) fault::hit(FaultPoint::owner_locked);
}

MirrorTransaction::MirrorTransaction(HomePair& pair, TxMode mode, Deadline lock_deadline)
    : store_(pair.mirror()), tx_(store_.session(), pair.home(), mode, lock_deadline) {
  if (holds_up_writers(store_, mode)) watch_.emplace(pair.clock());
  require_record(tx_.record(), pair.leg().mirror_record(), pair.leg().mirror);
  if (mode != TxMode::read) fault::hit(FaultPoint::mirror_locked);
}

namespace {

// Of homes in two kinds of databases, only the tables can be compared.
std::optional<std::string> difference(RowForm form, const HomeSchema& left,
                                      const HomeSchema& right) {
  if (form == RowForm::native) return ringshard::difference(left, right);
  const auto found = portable::obstacles(left, right);
  if (found.empty()) return std::nullopt;
  return "table " + found.front().object + " " + found.front().reason;
}

}  // namespace

void require_equal_definitions(HomeStore& owner, HomeStore& mirror) {
  const HomeSchema left = owner.dialect().describe_schema(owner.session());
  const HomeSchema right = mirror.dialect().describe_schema(mirror.session());
  const RowForm form = form_between(owner.dialect(), mirror.dialect());
  if (const auto differs = difference(form, left, right))
    throw Error(ErrorCode::schema,
                "the table definitions of the two homes are not the same any more, " + *differs +
                    "; undo the change, or give the move up: before the cutover with `ringshard "
                    "abort`, after it with `ringshard finalize`");
}

void require_portable_keys(HomePair& pair, HomeStore& mirror, std::span<const RowChange> rows) {
  if (pair.form() == RowForm::native) return;
  const auto schema = mirror.dialect().schema(mirror.session());
  for (const RowChange& row : rows) {
    const Table* table = schema->find(row.change.table);
    if (table != nullptr && !table->kinds.empty())
      portable::require_portable_key(*table, row.change.key);
  }
}

void require_whole_capture(HomeStore& home) {
  const auto table =
      home.dialect().capture_gap(home.session(), *home.dialect().schema(home.session()));
  if (table)
    throw Error(ErrorCode::schema,
                "changes of table " + *table +
                    " are not recorded any more, because it was dropped and made again, or lost "
                    "its triggers, during the move: before the cutover `ringshard abort` gives the "
                    "move up, after it `ringshard finalize` ends it without a way back");
}

std::vector<Table> common_tables(HomePair& pair) {
  OwnerTransaction owner(pair, TxMode::read, Deadline());
  MirrorTransaction mirror(pair, TxMode::read, Deadline());
  require_equal_definitions(owner.store(), mirror.store());
  require_whole_capture(owner.store());
  const HomeSchema owners = owner.store().dialect().describe_schema(owner.store().session());
  if (pair.form() == RowForm::native) return owners.tables;
  const HomeSchema mirrors = mirror.store().dialect().describe_schema(mirror.store().session());
  return portable::typed_of(owners, mirrors).tables;
}

std::string describe(const std::optional<HomeRecord>& record) {
  return record ? describe(*record) : "no home";
}

}  // namespace ringshard
