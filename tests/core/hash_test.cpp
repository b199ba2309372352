#include <cstdint>
#include <fstream>
#include <ringshard/error.hpp>
#include <ringshard/hash.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/hash_functions.hpp"
#include "support/catch.hpp"

namespace ringshard {
namespace {

struct GoldenLine {
  std::string spec, key;
  std::uint64_t hash = 0;
  std::vector<std::uint32_t> shards;
};

std::vector<GoldenLine> golden_lines(const std::string& strategy) {
  std::string path = RINGSHARD_TESTS_DIR;
  path.append("/core/golden/").append(strategy).append(".txt");
  std::ifstream file(path);
  std::vector<GoldenLine> lines;
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with('#')) continue;
    std::istringstream fields(text);
    GoldenLine line;
    std::getline(fields, line.spec, '\t');
    std::getline(fields, line.key, '\t');
    fields >> std::hex >> line.hash >> std::dec;
    for (std::uint32_t shard = 0; fields >> shard;) line.shards.push_back(shard);
    lines.push_back(line);
  }
  return lines;
}

TEST_CASE("every strategy gives the values that are pinned for it") {
  for (const HashStrategy strategy : hash_strategies()) {
    const auto lines = golden_lines(std::string(to_string(strategy)));
    CHECK(lines.size() >= 20);
    for (const GoldenLine& line : lines) {
      INFO(to_string(strategy) << ' ' << line.spec << ' ' << line.key);
      const KeyValue key = parse_key(KeySpec::parse(line.spec), line.key);
      CHECK(hash_key(strategy, key) == line.hash);
      REQUIRE(line.shards.size() == 3);
      CHECK(shard_of(strategy, key, 7).value == line.shards[0]);
      CHECK(shard_of(strategy, key, 1024).value == line.shards[1]);
      CHECK(shard_of_hash(strategy, line.hash, shard_count_max).value == line.shards[2]);
    }
  }
}

// The buffer and the results of xxHash's own self-test (xsum_sanity_check.c).
TEST_CASE("xxh3 gives the results that xxHash publishes") {
  std::string buffer;
  for (std::uint64_t generator = 2654435761U; buffer.size() < 2367;) {
    buffer.push_back(static_cast<char>(generator >> 56U));
    generator *= 11400714785074694797ULL;
  }
  const std::vector<std::pair<std::size_t, std::uint64_t>> published = {
      {0, 0x2D06800538D394C2ULL},   {1, 0xC44BDFF4074EECDBULL},    {6, 0x27B56A84CD2D7325ULL},
      {12, 0xA713DAF0DFBB77E7ULL},  {24, 0xA3FE70BF9D3510EBULL},   {48, 0x397DA259ECBA1F11ULL},
      {80, 0xBCDEFBBB2C47C90AULL},  {195, 0xCD94217EE362EC3AULL},  {403, 0xCDEB804D65C6DEA4ULL},
      {512, 0x617E49599013CB6BULL}, {2048, 0xDD59E2C3A5F038E0ULL}, {2240, 0x6E73A90539CF2948ULL},
      {2367, 0xCB37AEB9E5D361EDULL}};
  for (const auto& [size, hash] : published) {
    INFO(size);
    CHECK(hash_key(HashStrategy::xxh3, std::string_view(buffer).substr(0, size)) == hash);
  }
}

TEST_CASE("murmur3, fnv1a, crc32 and md5 give the results that are published for them") {
  // The first halves of MurmurHash3_x64_128.
  CHECK(core::murmur3_x64_128_h1("", 0) == 0);
  CHECK(core::murmur3_x64_128_h1("hello", 0) == 0xcbd8a7b341bd9b02ULL);
  CHECK(core::murmur3_x64_128_h1("The quick brown fox jumps over the lazy dog", 0) ==
        0xe34bbc7bbc071b6cULL);
  // RFC 9923 and the FNV authors' test suite.
  CHECK(core::fnv1a_64("") == 0xcbf29ce484222325ULL);
  CHECK(core::fnv1a_64("a") == 0xaf63dc4c8601ec8cULL);
  CHECK(core::fnv1a_64("foobar") == 0x85944171f73967e8ULL);
  // The check value of CRC-32 is that of these nine digits.
  CHECK(core::crc32("123456789") == 0xCBF43926U);
  CHECK(core::crc32("6789", core::crc32("12345")) == 0xCBF43926U);
  // RFC 1321, A.5: d41d8cd9 8f00b204 …, 900150983cd24fb0 …
  CHECK(core::md5("")[0] == 0xd4);
  CHECK(core::md5("")[15] == 0x7e);
  CHECK(core::md5("a", "bc") == core::md5("abc"));
  CHECK(hash_key(HashStrategy::md5, "abc") == 0x98500190ULL << 32U);
}

TEST_CASE("md5 pads every length right") {
  // Around one block the padding moves into a second one; a digest over digests depends on all.
  std::string chain;
  for (std::size_t size = 0; size <= 130; ++size) {
    const auto digest = core::md5(chain, std::string(size, 'x'));
    chain.assign(digest.begin(), digest.end());
  }
  // The same with hashlib.md5 of Python: 256d9c5d3424c1bbf6f64cac7e632a2c.
  CHECK(chain.substr(0, 4) == "\x25\x6d\x9c\x5d");
  CHECK(chain.substr(12) == "\x7e\x63\x2a\x2c");
  CHECK(core::md5(std::string(55, 'a'))[0] == 0xef);
  CHECK(core::md5(std::string(56, 'a'))[0] == 0x3b);
  CHECK(core::md5(std::string(64, 'a'))[0] == 0x01);
}

TEST_CASE("where parts of a composite end makes a difference") {
  for (const HashStrategy strategy : hash_strategies()) {
    if (strategy == HashStrategy::modulo) continue;
    INFO(to_string(strategy));
    CHECK(hash_key(strategy, {"ab", "c"}) != hash_key(strategy, {"a", "bc"}));
    CHECK(hash_key(strategy, {"ab", ""}) != hash_key(strategy, {"a", "b"}));
    CHECK(hash_key(strategy, {1, 2}) != hash_key(strategy, {2, 1}));
    CHECK(hash_key(strategy, {7}) == hash_key(strategy, 7));
  }
}

TEST_CASE("a strategy is known by its name") {
  for (const HashStrategy strategy : hash_strategies()) {
    CHECK(parse_hash_strategy(to_string(strategy)) == strategy);
  }
  for (const char* name : {"", "XXH3", "sha1", "xxh3 "}) {
    CHECK_THROWS_AS(parse_hash_strategy(name), Error);
  }
}

TEST_CASE("modulo is the remainder that is never negative, for integers only") {
  const auto modulo = [](const Key& key, std::uint32_t count) {
    return shard_of(HashStrategy::modulo, key, count).value;
  };
  CHECK(modulo(4711, 8) == 7);
  CHECK(modulo(-1, 8) == 7);
  CHECK(modulo(-8, 8) == 0);
  CHECK(modulo(INT64_MIN, 7) == 6);
  CHECK_THROWS_AS(modulo("4711", 8), Error);
  CHECK_THROWS_AS(modulo({1, 2}, 8), Error);
  CHECK_THROWS_AS(modulo(BlobView{"1"}, 8), Error);
  CHECK_THROWS_AS(modulo(Uuid{}, 8), Error);
}

TEST_CASE("a shard is a contiguous range of hashes, and all shards are in range") {
  constexpr std::uint32_t count = 1000;
  const auto shard = [](std::uint64_t hash) {
    return shard_of_hash(HashStrategy::xxh3, hash, count).value;
  };
  CHECK(shard(0) == 0);
  CHECK(shard(UINT64_MAX) == count - 1);
  std::uint32_t previous = 0;
  for (std::uint64_t step = 0; step < 100'000; ++step) {
    const std::uint32_t now = shard(step * (UINT64_MAX / 100'000));
    CHECK((now == previous || now == previous + 1));
    previous = now;
  }
}

TEST_CASE("splitting every shard in two splits its range") {
  for (std::int64_t key = 0; key < 10'000; ++key) {
    const auto one = shard_of(HashStrategy::xxh3, key, 256).value;
    const auto two = shard_of(HashStrategy::xxh3, key, 512).value;
    CHECK(two / 2 == one);
  }
}

TEST_CASE("a number of shards out of range is refused") {
  CHECK_THROWS_AS(shard_of_hash(HashStrategy::xxh3, 1, 0), Error);
  CHECK_THROWS_AS(shard_of(HashStrategy::xxh3, 1, 0), Error);
  CHECK_THROWS_AS(shard_of(HashStrategy::xxh3, 1, shard_count_max + 1), Error);
  CHECK(shard_of(HashStrategy::xxh3, 1, 1).value == 0);
}

}  // namespace
}  // namespace ringshard
