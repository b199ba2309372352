// What a user writes: nothing but public headers is included, and nothing but ringshard is linked.
#include <iostream>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <ringshard/hash.hpp>
#include <ringshard/ring.hpp>
#include <string>

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw ringshard::Error(ringshard::ErrorCode::internal, what);
}

void hash_a_key() {
  const auto shard = ringshard::shard_of(ringshard::HashStrategy::xxh3, 4711, 1024);
  require(shard.value < 1024, "a shard out of range");
}

void use_a_ring() {
  ringshard::HashRing<std::string> ring;
  ring.add("cache-1");
  ring.add("cache-2", 2.0);
  const std::string owner = ring.owner("user:42");
  require(owner == "cache-1" || owner == "cache-2", "an owner that is not on the ring");
}

void read_a_configuration() {
  try {
    ringshard::parse_config("catalog: sqlite:catalog.db\n", "config.yaml", ".");
    require(false, "half a configuration was taken");
  } catch (const ringshard::Error& error) {
    require(error.code() == ringshard::ErrorCode::config && !error.retryable(), error.what());
  }
}

}  // namespace

int main() {
  try {
    hash_a_key();
    use_a_ring();
    read_a_configuration();
    std::cout << "ringshard works\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
