#include "support/sqlite_file.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace ringshard::testing {

std::vector<std::string> run_sql(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  if (sqlite3_open(file.c_str(), &database) != SQLITE_OK)
    throw std::runtime_error("can not open " + file.string());
  std::vector<std::string> rows;
  char* message = nullptr;
  const auto take = [](void* out, int count, char** values, char**) {
    std::string row;
    for (int i = 0; i < count; ++i) {
      if (i > 0) row += "|";
      row += values[i] == nullptr ? "NULL" : values[i];
    }
    static_cast<std::vector<std::string>*>(out)->push_back(row);
    return 0;
  };
  const int code = sqlite3_exec(database, sql.c_str(), take, &rows, &message);
  const std::string error = message == nullptr ? "" : message;
  sqlite3_free(message);
  sqlite3_close(database);
  if (code != SQLITE_OK) throw std::runtime_error(file.string() + ": " + error);
  return rows;
}

}  // namespace ringshard::testing
