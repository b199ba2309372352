#include <array>
#include <charconv>
#include <ringshard/error.hpp>
#include <ringshard/topology.hpp>
#include <system_error>
#include <utility>

#include "core/bytes.hpp"

namespace ringshard {

namespace {

constexpr std::string_view first_line = "ringshard-topology\t1";
constexpr std::size_t placement_line_size = 64;

Error corrupt(const std::string& message) {
  return Error(ErrorCode::corrupt, "the stored topology can not be used: " + message +
                                       "; delete it, and it is made anew from the catalog");
}

bool needs_escape(char byte) noexcept {
  return static_cast<unsigned char>(byte) < 0x20U || byte == '%' || byte == '\x7f';
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (!needs_escape(byte)) {
      out.push_back(byte);
      continue;
    }
    out.push_back('%');
    core::append_hex(out, {&byte, 1});
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? core::hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? core::hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) throw corrupt("a % without two hexadecimal digits");
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

void append_line(std::string& out, std::initializer_list<std::string_view> fields) {
  bool first = true;
  for (const std::string_view field : fields) {
    if (!first) out.push_back('\t');
    first = false;
    out += escaped(field);
  }
  out.push_back('\n');
}

std::string weight_text(double weight) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), weight);
  return std::string(buffer.data(), result.ptr);
}

std::string checksum_line(std::string_view body) {
  std::string bytes;
  core::append_little_endian(bytes, hash_key(HashStrategy::xxh3, Key(body)), 8);
  std::string line = "checksum\t";
  core::append_hex(line, bytes);
  return line + "\n";
}

template <class Number>
Number parse_number(std::string_view text) {
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) {
    throw corrupt("'" + std::string(text) + "' is not a number");
  }
  return number;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

class Reader {
 public:
  explicit Reader(std::string_view body) : rest_(body) {}

  bool at_end() const noexcept { return rest_.empty(); }

  std::string_view line() {
    const auto end = rest_.find('\n');
    if (end == std::string_view::npos) throw corrupt("it ends in the middle of a line");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }

  // The fields after the name, of a line that has to have this name and this many fields.
  std::vector<std::string> fields(std::string_view name, std::size_t count) {
    const auto parts = split(line(), '\t');
    if (parts.front() != name || parts.size() != count + 1) {
      throw corrupt("a line '" + std::string(name) + "' with " + std::to_string(count) +
                    " field(s) is missing");
    }
    std::vector<std::string> values;
    for (std::size_t i = 1; i < parts.size(); ++i) values.push_back(unescaped(parts[i]));
    return values;
  }

 private:
  std::string_view rest_;
};

NodeInfo read_node(Reader& reader) {
  auto fields = reader.fields("node", 5);
  return {.name = std::move(fields[0]),
          .dsn = std::move(fields[1]),
          .weight = parse_number<double>(fields[2]),
          .state = parse_node_state(fields[3]),
          .zone = std::move(fields[4])};
}

TopologyData read_body(std::string_view body) {
  Reader reader(body);
  TopologyData data;
  reader.line();
  data.catalog_id = reader.fields("catalog", 1).front();
  data.keyspace = reader.fields("keyspace", 1).front();
  data.key = KeySpec::parse(reader.fields("key", 1).front());
  data.hash = parse_hash_strategy(reader.fields("hash", 1).front());
  data.version = parse_number<std::uint64_t>(reader.fields("version", 1).front());
  const auto nodes = parse_number<std::uint16_t>(reader.fields("nodes", 1).front());
  for (std::uint16_t i = 0; i < nodes; ++i) data.nodes.push_back(read_node(reader));
  const auto shards = parse_number<std::uint32_t>(reader.fields("shards", 1).front());
  while (!reader.at_end()) {
    for (const std::string_view index : split(reader.line(), ' ')) {
      data.placement.push_back(parse_number<std::uint16_t>(index));
    }
  }
  if (data.placement.size() != shards) {
    throw corrupt(std::to_string(data.placement.size()) + " shards are placed and " +
                  std::to_string(shards) + " are announced");
  }
  return data;
}

}  // namespace

std::string serialize(const Topology& topology) {
  std::string out(first_line);
  out.push_back('\n');
  append_line(out, {"catalog", topology.catalog_id()});
  append_line(out, {"keyspace", topology.keyspace()});
  append_line(out, {"key", topology.key_spec().to_string()});
  append_line(out, {"hash", to_string(topology.hash_strategy())});
  append_line(out, {"version", std::to_string(topology.version())});
  append_line(out, {"nodes", std::to_string(topology.nodes().size())});
  for (const NodeInfo& node : topology.nodes()) {
    append_line(out, {"node", node.name, node.dsn, weight_text(node.weight), to_string(node.state),
                      node.zone});
  }
  append_line(out, {"shards", std::to_string(topology.shard_count())});
  const auto& placement = topology.placement();
  for (std::size_t shard = 0; shard < placement.size(); ++shard) {
    const bool line_ends = (shard + 1) % placement_line_size == 0 || shard + 1 == placement.size();
    out += std::to_string(placement[shard]) + (line_ends ? '\n' : ' ');
  }
  return out + checksum_line(out);
}

Topology parse_topology(std::string_view text) {
  const auto first_end = text.find('\n');
  if (first_end == std::string_view::npos || text.substr(0, first_end) != first_line) {
    throw corrupt("its first line is not that of a topology of version 1");
  }
  // The checksum's line has a fixed length, so a byte too few or too many is found as well.
  const std::size_t checksum_size = checksum_line({}).size();
  const std::size_t body_size = text.size() > checksum_size ? text.size() - checksum_size : 0;
  const std::string_view body = text.substr(0, body_size);
  if (text.substr(body_size) != checksum_line(body)) {
    throw corrupt("its checksum is wrong, so it was cut off or altered");
  }
  try {
    return Topology(read_body(body));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::corrupt) throw;
    throw corrupt(error.what());
  }
}

}  // namespace ringshard
