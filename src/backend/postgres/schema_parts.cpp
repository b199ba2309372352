#include <algorithm>
#include <map>
#include <ringshard/error.hpp>

#include "backend/factories.hpp"
#include "backend/postgres/schema_reader.hpp"
#include "backend/postgres/session.hpp"

namespace ringshard {

namespace postgres {

namespace {

PostgresSession& own(Session& session) {
  auto* found = dynamic_cast<PostgresSession*>(&session);
  if (found == nullptr)
    throw Error(ErrorCode::internal, "a session of another database reached PostgreSQL's schema");
  return *found;
}

class PostgresSchemaParts final : public SchemaParts {
 public:
  std::vector<SchemaObject> objects(Session& session) const override {
    return read_definitions(own(session));
  }

  std::vector<std::string> settings(Session&) const override { return {}; }

  std::vector<ForeignKey> foreign_keys(Session& session) const override {
    std::map<std::int64_t, ForeignKey> keys;
    session.for_each(
        "SELECT o.oid::bigint, t.relname, c.attname, r.relname, f.attname FROM pg_constraint o "
        "JOIN pg_class t ON t.oid = o.conrelid JOIN pg_class r ON r.oid = o.confrelid "
        "CROSS JOIN LATERAL unnest(o.conkey, o.confkey) WITH ORDINALITY AS k(own, other, n) "
        "JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum = k.own "
        "JOIN pg_attribute f ON f.attrelid = r.oid AND f.attnum = k.other "
        "WHERE t.relnamespace = $1::regnamespace AND o.contype = 'f' AND o.conparentid = 0 "
        "ORDER BY o.oid, k.n",
        {std::string_view(schema_of(own(session)))}, [&keys](RowView row) {
          ForeignKey& key = keys[std::get<std::int64_t>(row[0])];
          key.table = text_of(row[1]);
          key.columns.push_back(text_of(row[2]));
          key.parent = text_of(row[3]);
          key.parent_columns.push_back(text_of(row[4]));
          return true;
        });
    std::vector<ForeignKey> found;
    for (auto& [oid, key] : keys) found.push_back(std::move(key));
    std::sort(found.begin(), found.end());
    return found;
  }

  // They are statements of their own.
  std::string without_foreign_keys(std::string_view create_table,
                                   const std::set<std::string>&) const override {
    return std::string(create_table);
  }

  std::vector<std::string> shape(Session& session, std::string_view table) const override {
    std::vector<std::string> lines;
    for (SchemaObject& object : read_definitions(own(session)))
      if (object.table == table &&
          (object.kind == ObjectKind::table || object.kind == ObjectKind::index))
        lines.push_back(std::move(object.statement));
    std::sort(lines.begin(), lines.end());
    return lines;
  }
};

}  // namespace
}  // namespace postgres

const SchemaParts& postgres_schema_parts() {
  static const postgres::PostgresSchemaParts parts;
  return parts;
}

}  // namespace ringshard
