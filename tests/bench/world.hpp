#pragma once

#include <stdlib.h>  // mkdtemp

#include <cstdlib>
#include <filesystem>
#include <ringshard/topology.hpp>
#include <stdexcept>
#include <string>

#include "backend/backend.hpp"
#include "backend/home_store.hpp"
#include "core/home.hpp"
#include "support/clock.hpp"

namespace ringshard::bench {

/// A folder of its own, in the one that RINGSHARD_BENCH_DIR names (else where temporary files go);
/// removed at the end.
class Folder {
 public:
  Folder() {
    const char* chosen = std::getenv("RINGSHARD_BENCH_DIR");
    std::string name = (chosen != nullptr ? std::filesystem::path(chosen)
                                          : std::filesystem::temp_directory_path()) /
                       "ringshard-bench-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("can not make " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline NodeInfo node_in(const Folder& folder, const std::string& name) {
  NodeInfo node;
  node.name = name;
  node.dsn = "sqlite:" + (folder / name);
  return node;
}

inline void make_home(const NodeInfo& node, const HomeRecord& record, const HomeSchema& schema) {
  const auto backend = open_backend(node.dsn, system_clock());
  backend->prepare_node();
  backend->create_home({record.keyspace, record.shard}, record, schema);
}

/// Runs `work` (HomeStore&, HomeRecord) in a transaction at a home, as the migrator does.
template <class Work>
void in_home(const NodeInfo& node, const HomeName& home, const Work& work) {
  const auto backend = open_backend(node.dsn, system_clock());
  const auto session = backend->connect(home, SessionUse::maintenance);
  HomeStore store(*session, backend->dialect());
  SessionTransaction tx(*session, home, TxMode::exclusive, Deadline());
  work(store, tx.record().value());
  tx.commit();
}

inline void install_capture(HomeStore& store) {
  store.dialect().install_capture(store.session(),
                                  store.dialect().describe_schema(store.session()));
}

}  // namespace ringshard::bench
