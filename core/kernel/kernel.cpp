#include "core/kernel/kernel.h"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle {
namespace {

constexpr std::array<std::pair<DType, const char*>, 8> kDTypes{{{DType::F32, "f32"},
                                                                {DType::Bf16, "bf16"},
                                                                {DType::F16, "f16"},
                                                                {DType::F8e4m3, "f8e4m3"},
                                                                {DType::F8e5m2, "f8e5m2"},
                                                                {DType::I32, "i32"},
                                                                {DType::I8, "i8"},
                                                                {DType::I4, "i4"}}};
constexpr std::array<std::pair<Space, const char*>, 4> kSpaces{
    {{Space::Register, "register"}, {Space::Smem, "smem"}, {Space::Tmem, "tmem"}, {Space::Global, "global"}}};

template <class Table, class E>
const char* name_in(const Table& table, E wanted) {
  for (const auto& [value, name] : table)
    if (value == wanted) return name;
  return "?";
}

template <class E, class Table>
std::optional<E> value_in(const Table& table, std::string_view wanted) {
  for (const auto& [value, name] : table)
    if (wanted == name) return value;
  return std::nullopt;
}

template <class T>
const T* find_named(const std::vector<T>& items, std::string_view name) {
  const auto it = std::find_if(items.begin(), items.end(), [&](const T& item) { return item.name == name; });
  return it == items.end() ? nullptr : &*it;
}

}  // namespace

int bits_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
    case DType::I32: return 32;
    case DType::Bf16:
    case DType::F16: return 16;
    case DType::F8e4m3:
    case DType::F8e5m2:
    case DType::I8: return 8;
    case DType::I4: return 4;
  }
  return 32;
}

const char* to_string(DType dtype) { return name_in(kDTypes, dtype); }
const char* to_string(Space space) { return name_in(kSpaces, space); }
std::optional<DType> parse_dtype(std::string_view name) { return value_in<DType>(kDTypes, name); }
std::optional<Space> parse_space(std::string_view name) { return value_in<Space>(kSpaces, name); }

const TileValue* Kernel::find_value(std::string_view name) const { return find_named(values, name); }
const Tensor* Kernel::find_tensor(std::string_view name) const { return find_named(tensors, name); }
const Param* Kernel::find_param(std::string_view name) const { return find_named(params, name); }

}  // namespace heddle
