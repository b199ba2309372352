#include "core/home.hpp"

namespace ringshard {

std::string_view to_string(Role role) noexcept {
  switch (role) {
    case Role::owner:
      return "owner";
    case Role::mirror:
      return "mirror";
  }
  return "unknown";
}

std::optional<Role> parse_role(std::string_view name) noexcept {
  if (name == "owner") return Role::owner;
  if (name == "mirror") return Role::mirror;
  return std::nullopt;
}

std::string HomeName::str() const {
  return keyspace + "_" + (shard ? std::to_string(shard->value) : std::string("reference"));
}

Access access_of(const HomeRecord& record) noexcept {
  switch (record.role) {
    case Role::owner:
      return record.being_moved() ? Access::serve_and_mirror : Access::serve;
    case Role::mirror:
      return Access::redirect;
  }
  return Access::redirect;
}

bool handover_is_decided(const HomeRecord& old_owner, const HomeRecord& new_owner) noexcept {
  return old_owner.role == Role::mirror && new_owner.role == Role::mirror &&
         old_owner.move_id == new_owner.move_id && old_owner.shard == new_owner.shard &&
         old_owner.leg == new_owner.leg + 1 && old_owner.certificate == new_owner.certificate;
}

bool routers_trim_log(const HomeRecord& owner) noexcept {
  return owner.role == Role::owner && owner.being_moved() && owner.leg > 1;
}

}  // namespace ringshard
