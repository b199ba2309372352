#pragma once

#include <filesystem>
#include <ringshard/error.hpp>
#include <string>
#include <string_view>

struct sqlite3;

namespace ringshard::sqlite {

/// What a session works on, for messages.
struct Place {
  std::string name;            ///< "home shop_12", "catalog"
  std::filesystem::path file;  ///< its database file

  std::string str() const { return name + " (" + file.string() + ")"; }
};

/// What was being done: the same result code means different things.
enum class Phase { open, begin, statement, commit };

/// The one translation of SQLite's result codes. Call it before anything else is done with
/// `database`, whose last error it reads; nullptr is allowed.
Error translate(int code, sqlite3* database, const Place& place, Phase phase,
                std::string_view sql = {});

/// For a call to the operating system that failed with `error_number`: "can not <what>: <reason>".
Error system_error(int error_number, const std::string& what);

/// A session is not to be used again after an error of this kind.
bool ends_session(ErrorCode code) noexcept;

/// The writes that ringshard's own triggers refuse have messages that begin like this.
inline constexpr std::string_view refusal_prefix = "ringshard: ";

}  // namespace ringshard::sqlite
