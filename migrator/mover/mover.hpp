#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.hpp"
#include "mover/home_pair.hpp"
#include "mover/nodes.hpp"
#include "mover/options.hpp"
#include "mover/verifier.hpp"

namespace ringshard {

/// "host:pid:random": a name for the holder of a lease, another one for each run of a mover.
std::string make_holder_name();

/// Hears what a mover does. Called from the mover's thread; must not throw.
class MoveObserver {
 public:
  virtual ~MoveObserver() = default;
  virtual void stage_stored(const MoveRecord& move) { static_cast<void>(move); }
  /// Rows copied or compared so far in this stage.
  virtual void progress(const MoveRecord& move, std::int64_t rows) {
    static_cast<void>(move);
    static_cast<void>(rows);
  }
  virtual void verified(const MoveRecord& move, const VerifyReport& report) {
    static_cast<void>(move);
    static_cast<void>(report);
  }
};

/// Keeps the lease of one move, which lives in the catalog, by wall time. What a mover does after
/// it has lost its lease is refused by the homes, which know the mover that holds it.
class Lease {
 public:
  /// Error{lease_lost} if another migrator has it.
  Lease(Catalog& catalog, Clock& clock, std::string move_id, std::string holder, Duration duration);
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  const std::string& holder() const noexcept { return holder_; }

  /// To be called before each effect: renews when a third of the time has passed. Error{lease_lost}
  /// if it is gone.
  void hold();

 private:
  Catalog& catalog_;
  Clock& clock_;
  const std::string move_id_;
  const std::string holder_;
  const Duration duration_;
  TimePoint renewed_;
};

/// Drives one move through its stages. Everything that it believes is stored: in the catalog, in
/// the two homes, never only here; so it may be killed anywhere and another one goes on. For one
/// thread at a time.
class Mover {
 public:
  /// `stopped` is asked between two steps, from the mover's thread: true makes it stop there.
  Mover(Catalog& catalog, Nodes& nodes, const MoveOptions& options, MoveObserver& observer,
        std::function<bool()> stopped = {})
      : catalog_(catalog),
        nodes_(nodes),
        options_(options),
        observer_(observer),
        stopped_(std::move(stopped)) {}

  /// Advances the move until it is final, observes (and the time for that is not over), was asked
  /// to pause, or can not go on: then the error is stored with the move and thrown. Returns the
  /// move as it stands.
  ///
  /// Error{lease_lost}: another migrator runs it. Error{differs}: the verifier found differences;
  /// only a repair or an abort ends that. Error{cancelled}: `pause` was wished, or a stop asked
  /// for.
  /// `holder`: whose lease of the move it is, which may be taken already.
  MoveRecord run(const std::string& move_id, std::string holder = make_holder_name());

  /// Compares the two homes of a move that is verifying, ready, observing or rolling back, and
  /// stores the verdict; the stage stays. Applies the change log, and with options.repair makes the
  /// mirror's rows equal. Error{refused} in any other stage: the two homes are not both complete
  /// then.
  VerifyReport verify(const std::string& move_id);

 private:
  struct Run;  // what one run has at hand

  void go_on(Run& run);
  void obey_wish(Run& run);
  void step(Run& run);
  void begin_mirroring(Run& run);
  void backfill(Run& run);
  void verify_tables(Run& run);
  void cut_over(Run& run);
  void observe(Run& run);
  void clean(Run& run);
  void revert(Run& run);
  void roll_back(Run& run);

  /// Certifies and tries until the handover of this leg is decided.
  void hand_over(Run& run, HomePair& pair);
  VerifyReport compare_all(Run& run, HomePair& pair, std::int64_t& verified_seq,
                           const std::function<void()>& between);
  void store(Run& run, MoveStage next, const std::optional<std::string>& placement = std::nullopt);
  void check_log(Run& run, HomePair& pair);
  bool revert_if_capture_lost(Run& run);

  /// What follows from a fail-over of the owner: see failover.hpp.
  void heed_failover(Run& run, HomePair& pair);
  void between_steps(Run& run);
  void between_tails(Run& run, HomePair& pair);

  Catalog& catalog_;
  Nodes& nodes_;
  const MoveOptions options_;
  MoveObserver& observer_;
  const std::function<bool()> stopped_;
};

}  // namespace ringshard
