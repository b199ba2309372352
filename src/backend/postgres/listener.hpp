#pragma once

#include <string_view>

namespace ringshard::postgres {

/// By which a catalog tells that it was changed.
inline constexpr std::string_view notification_channel = "ringshard_catalog";

}  // namespace ringshard::postgres
