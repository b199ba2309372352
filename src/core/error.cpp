#include <ringshard/error.hpp>

namespace ringshard {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::config:
      return "config";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::already_exists:
      return "already_exists";
    case ErrorCode::refused:
      return "refused";
    case ErrorCode::stale_plan:
      return "stale_plan";
    case ErrorCode::not_owner:
      return "not_owner";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::pool_exhausted:
      return "pool_exhausted";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::outcome_unknown:
      return "outcome_unknown";
    case ErrorCode::constraint:
      return "constraint";
    case ErrorCode::sql:
      return "sql";
    case ErrorCode::read_only:
      return "read_only";
    case ErrorCode::storage_full:
      return "storage_full";
    case ErrorCode::schema:
      return "schema";
    case ErrorCode::differs:
      return "differs";
    case ErrorCode::lease_lost:
      return "lease_lost";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

bool Error::retryable() const noexcept {
  switch (code_) {
    case ErrorCode::not_owner:
    case ErrorCode::unavailable:
    case ErrorCode::timeout:
    case ErrorCode::pool_exhausted:
    case ErrorCode::conflict:
    case ErrorCode::storage_full:
    case ErrorCode::lease_lost:
      return true;
    case ErrorCode::invalid_argument:
    case ErrorCode::config:
    case ErrorCode::not_found:
    case ErrorCode::already_exists:
    case ErrorCode::refused:
    case ErrorCode::stale_plan:
    case ErrorCode::outcome_unknown:
    case ErrorCode::constraint:
    case ErrorCode::sql:
    case ErrorCode::read_only:
    case ErrorCode::schema:
    case ErrorCode::differs:
    case ErrorCode::corrupt:
    case ErrorCode::cancelled:
    case ErrorCode::internal:
      return false;
  }
  return false;
}

}  // namespace ringshard
