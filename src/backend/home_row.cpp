#include "backend/home_row.hpp"

#include <limits>
#include <ringshard/error.hpp>
#include <string>

#include "backend/session.hpp"

namespace ringshard {

namespace {

template <class Type>
const Type& column(RowView row, std::size_t position, std::string_view name) {
  const auto* value = position < row.size() ? std::get_if<Type>(&row[position]) : nullptr;
  if (value == nullptr)
    throw Error(ErrorCode::corrupt, "a home record holds no valid " + std::string(name));
  return *value;
}

}  // namespace

std::string_view home_record_insert() {
  static const std::string sql = "INSERT INTO ringshard_home (id, " +
                                 std::string(home_record_columns) + ") VALUES (1, " +
                                 placeholders(home_record_width) + ")";
  return sql;
}

std::array<ValueView, home_record_width> home_record_values(const HomeRecord& record) {
  return {home_record_format,
          std::string_view(record.keyspace),
          std::int64_t{record.shard.value},
          to_string(record.role),
          record.leg,
          std::string_view(record.peer),
          std::string_view(record.move_id),
          std::string_view(record.mover),
          std::string_view(record.certificate)};
}

HomeRecord decode_home_record(RowView row) {
  const std::int64_t format = column<std::int64_t>(row, 0, "format");
  if (format != home_record_format)
    throw Error(ErrorCode::refused, "a home record has the format " + std::to_string(format) +
                                        ", and this version of ringshard knows " +
                                        std::to_string(home_record_format) + ": use a newer one");
  HomeRecord record;
  record.keyspace = column<std::string_view>(row, 1, "keyspace");
  const std::int64_t shard = column<std::int64_t>(row, 2, "shard");
  if (shard < 0 || shard > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorCode::corrupt, "a home record holds the shard " + std::to_string(shard));
  record.shard = ShardId{static_cast<std::uint32_t>(shard)};
  const std::string_view role_name = column<std::string_view>(row, 3, "role");
  const std::optional<Role> role = parse_role(role_name);
  if (!role)
    throw Error(ErrorCode::corrupt, "a home record holds the role " + std::string(role_name));
  record.role = *role;
  record.leg = column<std::int64_t>(row, 4, "leg");
  record.peer = column<std::string_view>(row, 5, "peer");
  record.move_id = column<std::string_view>(row, 6, "move_id");
  record.mover = column<std::string_view>(row, 7, "mover");
  record.certificate = column<std::string_view>(row, 8, "certificate");
  return record;
}

void require_same_home(const HomeName& home, const HomeRecord& record) {
  if (record.keyspace == home.keyspace && home.shard && record.shard == *home.shard) return;
  throw Error(ErrorCode::corrupt, "what is kept as home " + home.str() + " says that it is " +
                                      HomeName{record.keyspace, record.shard}.str() +
                                      ": was it copied or renamed by hand?");
}

}  // namespace ringshard
