#pragma once

#include "backend/backend.hpp"

namespace ringshard::sqlite {

class SqliteDialect final : public Dialect {
 public:
  std::string_view engine() const noexcept override { return "sqlite"; }
  const Quirks& quirks() const noexcept override;
  std::shared_ptr<const HomeSchema> schema(Session& session) const override;
  HomeSchema describe_schema(Session& session) const override;
  std::vector<Obstacle> obstacles(Session& session, const HomeSchema& schema) const override;
  void install_capture(Session& session, const HomeSchema& schema) const override;
  bool remove_capture(Session& session, std::int64_t rows_max) const override;
  bool has_capture(Session& session) const override;
  std::optional<std::string> capture_gap(Session& session, const HomeSchema& schema) const override;
  std::int64_t log_head(Session& session) const override;
  void raise_log(Session& session, std::int64_t seq) const override;
  std::vector<Change> log_after(Session& session, const HomeSchema& schema, std::int64_t seq,
                                std::int64_t limit) const override;
  bool log_has(Session& session, const Table& table, const Row& key) const override;
  void put_evicting(Session& session, const Table& table, RowView row) const override;
  Digest digest(Session& session, const Table& table, const KeyRange& range,
                RowForm form) const override;
  Digest digest(Session& session, const Table& table, std::span<const Row> keys,
                RowForm form) const override;
  std::vector<Counter> counters(Session& session) const override;
  void raise_counters(Session& session, const std::vector<Counter>& counters) const override;
  void raise_foreign_counters(Session& session, const HomeSchema& schema,
                              const std::vector<Counter>& counters) const override;
};

}  // namespace ringshard::sqlite
