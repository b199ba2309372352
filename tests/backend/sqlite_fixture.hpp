#pragma once

#include <memory>
#include <string>

#include "backend/conformance.hpp"
#include "support/paths.hpp"

namespace ringshard::testing {

/// Nodes are directories in a temporary folder.
class SqliteFixture final : public BackendFixture {
 public:
  std::unique_ptr<Backend> open_node(const std::string& name) override {
    return open_backend("sqlite:" + (folder_ / name).string(), system_clock());
  }
  std::string blob_type() const override { return "BLOB"; }
  std::string double_type() const override { return "REAL"; }
  std::string case_folding_text_type() const override { return "TEXT COLLATE NOCASE"; }
  std::string counted_key_type() const override { return "INTEGER PRIMARY KEY AUTOINCREMENT"; }

  std::filesystem::path file(const std::string& node, const std::string& home) const {
    return folder_ / node / (home + ".db");
  }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
};

}  // namespace ringshard::testing
