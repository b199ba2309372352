#include "mover/failover.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "mover/retry.hpp"
#include "support/log.hpp"

namespace ringshard {
namespace {

constexpr std::string_view owner_identity = "ringshard_owner_identity";

}  // namespace

void heed_failover(HomePair& pair, const MoveOptions& options,
                   const std::function<void()>& compare_anew) {
  const std::string identity = pair.owner_backend().identity();
  if (identity.empty()) return;
  std::optional<Row> known;
  std::int64_t applied = 0;
  {
    MirrorTransaction tx(pair, TxMode::read, Deadline());
    known = tx.store().checkpoint(owner_identity).last_key;
    applied = tx.store().applied_head(tx.store().dialect().schema(tx.store().session())->tables);
  }
  if (known && std::get<std::string>(known->front()) == identity) return;
  if (known) {
    log::warning(
        "move " + pair.leg().move_id + ": the database of node '" + pair.leg().owner +
        "' went on from an older state (a replica took over, or it was restored): all rows "
        "of " +
        pair.home().str() + " are compared anew");
    retry_conflicts(pair.clock(), Deadline::after(pair.clock(), options.lock_wait), [&] {
      OwnerTransaction tx(pair, TxMode::exclusive,
                          Deadline::after(pair.clock(), options.cutover.lock_timeout));
      tx.store().dialect().raise_log(tx.store().session(), applied);
      tx.commit();
    });
    compare_anew();
  }
  MirrorTransaction tx(pair, TxMode::write, Deadline::after(pair.clock(), options.lock_wait));
  tx.store().store_checkpoint(owner_identity, {Row{identity}, false});
  tx.commit();
}

}  // namespace ringshard
