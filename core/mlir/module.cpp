#include "core/mlir/module.h"

#include <charconv>

namespace heddle::mlir {
namespace {

const Attribute* named(const std::vector<Attribute>& attributes, std::string_view name) {
  for (const Attribute& attribute : attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

}  // namespace

const Attribute* Op::find(std::string_view attribute) const { return named(attributes, attribute); }

std::int64_t Op::integer(std::string_view attribute, std::int64_t fallback) const {
  const Attribute* found = find(attribute);
  if (found == nullptr) return fallback;
  std::int32_t number = 0;  // attributes of this kind are i32; what is larger is none, so that sums of them cannot overflow
  const char* end = found->value.data() + found->value.size();
  const auto [stop, trouble] = std::from_chars(found->value.data(), end, number);
  const bool whole = stop == end || *stop == ' ' || *stop == ':';
  return trouble == std::errc{} && whole ? number : fallback;
}

const Attribute* Module::find(std::string_view attribute) const { return named(attributes, attribute); }

OpId Module::around(OpId id) const {
  const BlockId parent = op(id).parent;
  return parent.valid() ? region(block(parent).parent).parent : OpId();
}

const Block* Module::body(OpId id, std::size_t index) const {
  const Op& owner = op(id);
  if (index >= owner.regions.size() || region(owner.regions[index]).blocks.empty()) return nullptr;
  return &block(region(owner.regions[index]).blocks.front());
}

}  // namespace heddle::mlir
