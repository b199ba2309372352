#include "core/home_text.hpp"

namespace ringshard {

std::string describe(const HomeRecord& record) {
  std::string text(to_string(record.role));
  if (record.peer.empty() && record.move_id.empty()) return text + " at rest";
  if (!record.peer.empty())
    text += record.role == Role::owner ? ", mirrored at " + record.peer : " of " + record.peer;
  text += ", leg " + std::to_string(record.leg);
  if (!record.move_id.empty()) text += ", move " + record.move_id;
  return text;
}

}  // namespace ringshard
