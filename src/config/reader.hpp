#pragma once

#include <ringshard/config.hpp>
#include <string>

#include "config/document.hpp"
#include "config/section.hpp"

namespace ringshard::config {

/// Reads a whole document. What it does not like it puts into `findings`; the result is of use only
/// if there are none. Relative paths are taken from `folder`.
Config read_config(const Node& document, Findings& findings, const std::string& folder);

/// Reads `keyspace`: the part that is fixed when a keyspace is made, and its tables.
KeyspaceConfig read_keyspace(Section& root, const std::string& folder);

/// A path taken from `folder` if it is relative.
std::string resolve_path(const std::string& path, const std::string& folder);

/// A text that is not empty. Throws ScalarError.
std::string not_empty(const std::string& text);

}  // namespace ringshard::config
