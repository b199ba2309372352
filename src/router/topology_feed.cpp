#include "router/topology_feed.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "router/topology_cache.hpp"
#include "support/log.hpp"

namespace ringshard::router {

namespace {

std::uint64_t next_feed_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

// A catalog that can not be asked, unlike one that answers "no".
bool is_away(const Error& error) noexcept {
  switch (error.code()) {
    case ErrorCode::unavailable:
    case ErrorCode::timeout:
    case ErrorCode::conflict:
    case ErrorCode::storage_full:
    case ErrorCode::read_only:
      return true;
    default:
      return false;
  }
}

std::string cache_hint(const std::string& path) {
  return "; if this is meant, delete " + path + " or give router.topology_cache another file";
}

}  // namespace

TopologyFeed::TopologyFeed(const Config& config, BackendOpener open_backend, Clock& clock,
                           Counters& counters)
    : config_(config),
      open_backend_(std::move(open_backend)),
      clock_(clock),
      counters_(counters),
      id_(next_feed_id()) {
  bool catalog_exists = false;
  try {
    catalog_.emplace(Catalog::open(config_.catalog, clock_));
    catalog_exists = true;
    take(catalog_->topology(config_.keyspace.name));
  } catch (const Error& error) {
    catalog_.reset();
    // A catalog's file that is not there may be on a volume that is not mounted.
    const bool missing = !catalog_exists && error.code() == ErrorCode::not_found;
    if (!is_away(error) && !missing) throw;
    start_from_cache(error);
  }
  thread_ = std::thread([this] { run(); });
  listening_ = std::thread([this] { listen(); });
}

TopologyFeed::~TopologyFeed() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (listener_) listener_->interrupt();
  }
  asked_changed_.notify_all();
  stop_listening_.notify_all();
  thread_.join();
  listening_.join();
  for (const auto& node : view_->nodes()) node->close_idle();
}

void TopologyFeed::start_from_cache(const Error& why) {
  const std::string catalog = redact(config_.catalog);
  const auto& path = config_.router.topology_cache;
  auto cached = path ? read_topology_cache(*path) : std::nullopt;
  if (!cached) {
    if (why.code() == ErrorCode::not_found) throw Error(why);
    throw Error(ErrorCode::unavailable, "the catalog " + catalog + " can not be reached (" +
                                            why.what() + ") and " +
                                            (path ? "there is no cached topology " + *path
                                                  : "no router.topology_cache is configured") +
                                            ": bring the catalog back");
  }
  if (cached->keyspace() != config_.keyspace.name) {
    throw Error(ErrorCode::refused, "the cached topology " + *path + " is of keyspace '" +
                                        cached->keyspace() + "', not '" + config_.keyspace.name +
                                        "'" + cache_hint(*path));
  }
  log::warning("the catalog " + catalog + " can not be reached (" + why.what() +
               "): starting with version " + std::to_string(cached->version()) +
               " of the topology from " + *path);
  failing_ = true;
  publish(std::move(*cached));
}

// A topology that the catalog gave: in use and in the cache file if it is another one than what is
// in use.
void TopologyFeed::take(Topology topology) {
  Counters::count(counters_.refreshes);
  const std::shared_ptr<const View> now = view_;  // only this thread changes it
  if (now == nullptr) {
    const auto& path = config_.router.topology_cache;
    std::optional<Topology> cached;
    try {
      if (path) cached = read_topology_cache(*path);
    } catch (const Error& error) {
      log::warning(std::string(error.what()) + ": writing it anew");
    }
    if (cached && cached->keyspace() != topology.keyspace()) {
      throw Error(ErrorCode::refused, "the cached topology " + *path + " is of keyspace '" +
                                          cached->keyspace() + "', not '" + topology.keyspace() +
                                          "'" + cache_hint(*path));
    }
    if (cached && cached->catalog_id() != topology.catalog_id()) {
      log::warning("the cached topology " + *path + " is of another catalog: writing it anew");
    }
  } else if (topology.version() == now->topology().version()) {
    return;
  } else if (topology.version() < now->topology().version()) {
    log::warning("the catalog " + redact(config_.catalog) + " went back from version " +
                 std::to_string(now->topology().version()) + " to " +
                 std::to_string(topology.version()) +
                 ": it was restored from an older copy, see `ringshard doctor`");
  }
  store_in_cache(topology);
  publish(std::move(topology));
}

void TopologyFeed::publish(Topology topology) {
  auto shared = std::make_shared<const Topology>(std::move(topology));
  const std::shared_ptr<const View> old = view_;
  std::vector<std::shared_ptr<Node>> nodes;
  for (const NodeInfo& info : shared->nodes()) {
    std::shared_ptr<Node> node;
    for (std::size_t i = 0; old != nullptr && i < old->nodes().size() && node == nullptr; ++i) {
      const auto& known = old->nodes()[i];
      if (known->name() == info.name && known->dsn() == info.dsn) node = known;
    }
    if (node == nullptr) {
      node = std::make_shared<Node>(info, open_backend_, config_.router, clock_);
    }
    nodes.push_back(std::move(node));
  }
  auto view = std::make_shared<const View>(std::move(shared), std::move(nodes));
  {
    std::lock_guard lock(mutex_);
    view_ = view;
    generation_.fetch_add(1, std::memory_order_release);
  }
  if (old == nullptr) return;
  for (const auto& node : old->nodes()) {
    const auto& used = view->nodes();
    if (std::find(used.begin(), used.end(), node) == used.end()) node->close_idle();
  }
}

void TopologyFeed::store_in_cache(const Topology& topology) noexcept {
  if (!config_.router.topology_cache) return;
  try {
    write_topology_cache(*config_.router.topology_cache, topology);
  } catch (const std::exception& error) {
    cache_log_.write(clock_, LogLevel::warning, error.what());
  }
}

const std::shared_ptr<const View>& TopologyFeed::view() const {
  struct Cached {
    std::uint64_t feed = 0;
    std::uint64_t generation = 0;
    std::shared_ptr<const View> view;
  };
  // A few, for threads that work with several clusters in turn.
  static thread_local std::array<Cached, 4> slots;
  Cached& slot = slots[id_ % slots.size()];
  if (slot.feed != id_ || slot.generation != generation_.load(std::memory_order_acquire)) {
    std::shared_ptr<const View> old = std::move(slot.view);  // destroyed after the lock is gone
    std::lock_guard lock(mutex_);
    slot.feed = id_;
    slot.generation = generation_.load(std::memory_order_relaxed);
    slot.view = view_;
  }
  return slot.view;
}

void TopologyFeed::refresh(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++asked_;
  asked_changed_.notify_one();
  while (answered_ < mine) {
    if (deadline.passed(clock_)) {
      throw Error(ErrorCode::timeout,
                  "the catalog " + redact(config_.catalog) + " did not give its topology in time");
    }
    // In short steps, as the deadline is in the time of clock_.
    answered_changed_.wait_for(
        lock, std::min<std::chrono::microseconds>(deadline.left(clock_), Duration(20)));
  }
  if (answer_) throw Error(*answer_);
}

void TopologyFeed::nudge() noexcept {
  {
    std::lock_guard lock(mutex_);
    ++asked_;
  }
  asked_changed_.notify_one();
}

void TopologyFeed::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    asked_changed_.wait_for(lock, config_.router.poll_interval,
                            [this] { return stopping_ || asked_ > answered_; });
    if (stopping_) return;
    // All who asked before this moment are answered by this look, and only they.
    const std::uint64_t asked = asked_;
    const bool somebody_asked = asked > answered_;
    lock.unlock();
    std::optional<Error> answer = look();
    lock.lock();
    if (!somebody_asked) continue;
    answered_ = asked;
    answer_ = std::move(answer);
    answered_changed_.notify_all();
  }
}

// Null when this feed stops, or when the catalog can not tell of changes.
std::shared_ptr<CatalogListener> TopologyFeed::begin_listening() {
  std::shared_ptr<CatalogListener> listener = listen_to_catalog(config_.catalog, clock_);
  const std::lock_guard lock(mutex_);
  if (stopping_) return nullptr;
  listener_ = listener;
  return listener;
}

void TopologyFeed::listen() {
  for (;;) {
    try {
      const std::shared_ptr<CatalogListener> listener = begin_listening();
      if (listener == nullptr) return;
      // What changed before this connection was made is not told.
      do nudge();
      while (listener->wait());
      return;  // interrupted
    } catch (const std::exception&) {
      // The other thread says that the catalog is away, if it is. Until it can be listened to again
      // the poll is what there is.
    }
    std::unique_lock lock(mutex_);
    listener_.reset();
    if (stop_listening_.wait_for(lock, config_.router.poll_interval, [this] { return stopping_; }))
      return;
  }
}

// Reads the topology if its version is another one: asking for that alone is cheap, and what many
// failing calls do at once must not weigh on the catalog.
std::optional<Error> TopologyFeed::look() noexcept {
  try {
    try {
      const std::string& keyspace = config_.keyspace.name;
      // A smaller one too: only this thread looks, so it is no late answer but a restored catalog.
      if (catalog().version(keyspace) != view_->topology().version()) {
        take(catalog().topology(keyspace));
      }
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(ErrorCode::internal, error.what());
    }
    if (failing_) log::info("the catalog " + redact(config_.catalog) + " answers again");
    failing_ = false;
    return std::nullopt;
  } catch (const Error& error) {
    catalog_.reset();
    if (!failing_) {
      log::warning("the topology can not be refreshed, version " +
                   std::to_string(view_->topology().version()) +
                   " stays in use: " + redact(error.what()));
    }
    failing_ = true;
    return Error(error);
  }
}

Catalog& TopologyFeed::catalog() {
  if (catalog_) return *catalog_;
  Catalog opened = Catalog::open(config_.catalog, clock_);
  const std::string& known = view_->topology().catalog_id();
  if (opened.id() != known) {
    throw Error(ErrorCode::refused, "the catalog " + redact(config_.catalog) + " has the id " +
                                        opened.id() + ", but the topology in use is of catalog " +
                                        known +
                                        ": put the right catalog back, or restart this process "
                                        "without its router.topology_cache");
  }
  return catalog_.emplace(std::move(opened));
}

}  // namespace ringshard::router
