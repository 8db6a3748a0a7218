#include "codegen/run/ptx_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/emit/size_formula.h"
#include "codegen/run/map_arguments.h"
#include "core/base/saturate.h"
#include "ptx/launch/launch_rules.h"
#include "ptx/launch/made_up_memory.h"
#include "ptx/launch/parameter_type.h"

namespace heddle::codegen {
namespace {

/// A formula of the text (SizeField) is an expression of kernel files over the sizes as texts call them.
Result<std::int64_t> evaluated(const std::string& formula, const Scope& params) {
  const Result<Expr> expr = Expr::parse(formula);
  if (!expr) return expr.error();
  Scope sizes;
  for (const auto& [name, value] : params) sizes[size_name(name)] = value;
  return expr->evaluate(sizes);
}

class LaunchWriter {
 public:
  LaunchWriter(const Kernel& kernel, const Scope& params, const Emission& emission)
      : kernel_(kernel), params_(params), emission_(emission), plan_(emission.launch), addresses_(kernel.tensors.size()) {}

  Result<ptx::Launch> launch(std::int64_t sms) {
    launch_.kernel = plan_.entry;
    launch_.block = {static_cast<std::uint32_t>(plan_.threads), 1, 1};
    launch_.cluster = {static_cast<std::uint32_t>(plan_.cluster), 1, 1};
    launch_.dynamic_shared = static_cast<std::uint64_t>(plan_.smem_bytes);
    const std::int64_t clusters = std::max<std::int64_t>(std::min(tiles(), sms) / plan_.cluster, 1);
    launch_.grid = {static_cast<std::uint32_t>(clusters * plan_.cluster), 1, 1};
    for (const TensorMapPlan& map : plan_.maps) add_map(map);
    for (const std::size_t tensor : plan_.pointers) add_word(kernel_.tensors[tensor].name, "u64", address_of(tensor));
    if (plan_.sizes) {
      for (const SizeField& field : plan_.sizes->fields) add_word(field.name, "u32", static_cast<std::uint64_t>(number(field.formula)));
      for (const ScalarField& field : plan_.sizes->numbers)
        add_word(field.name, "f32",
                 std::bit_cast<std::uint32_t>(static_cast<float>(plan_.sizes->scalars[field.scalar].standard * field.factor)));
    }
    if (emission_.records) {
      launch_.parameters.resize((launch_.parameters.size() + 7) / 8 * 8);
      add_word("records", "u64", memory("records", 8 * static_cast<std::uint64_t>(emission_.records->words())));
    }
    if (!error_.faults.empty()) return std::move(error_);
    return std::move(launch_);
  }

 private:
  std::int64_t number(const std::string& formula) {
    const Result<std::int64_t> found = evaluated(formula, params_);
    if (found) return *found;
    error_.faults.insert(error_.faults.end(), found.error().faults.begin(), found.error().faults.end());
    return 0;
  }
  std::int64_t tiles() { return plan_.sizes ? number(plan_.sizes->tiles) : plan_.tiles; }

  void add_map(const TensorMapPlan& plan) {
    TensorMapPlan sized = plan;
    for (std::size_t d = 0; d < plan.extent_texts.size() && d < sized.extents.size(); ++d) sized.extents[d] = number(plan.extent_texts[d]);
    const Tensor& tensor = kernel_.tensors[plan.tensor];
    const MapArguments arguments = map_arguments(sized, tensor.dtype);
    ptx::PlacedMap placed;
    placed.at = launch_.parameters.size();
    placed.map.name = tensor.name;
    placed.map.element = static_cast<ptx::MapElement>(arguments.type);  // both number types as CUtensorMapDataType does
    placed.map.address = address_of(plan.tensor);
    placed.map.extents = arguments.extents;
    placed.map.strides = arguments.strides;
    placed.map.box.assign(arguments.box.begin(), arguments.box.end());
    placed.map.steps.assign(arguments.box.size(), 1);
    placed.map.swizzle = plan.swizzle;
    launch_.maps.push_back(std::move(placed));
    launch_.parameters.resize(launch_.parameters.size() + ptx::kMapBytes);
  }

  void add_word(const std::string& name, const char* type, std::uint64_t value) {
    launch_.names.push_back({name, launch_.parameters.size(), type});
    const std::vector<std::uint8_t> bytes = ptx::bytes_of(value, ptx::parameter_type(type)->bytes);
    launch_.parameters.insert(launch_.parameters.end(), bytes.begin(), bytes.end());
  }

  std::uint64_t memory(const std::string& name, std::uint64_t bytes, std::vector<std::uint8_t> contents = {}) {
    ptx::GlobalBuffer buffer;
    buffer.name = name, buffer.bytes = bytes, buffer.contents = std::move(contents);
    buffer.address = ptx::MadeUpMemory(launch_).take(bytes);
    launch_.buffers.push_back(std::move(buffer));
    return launch_.buffers.back().address;
  }

  /// One for each tensor, however many maps and pointers lead to it.
  std::uint64_t address_of(std::size_t index) {
    if (addresses_[index] != 0) return addresses_[index];
    const Tensor& tensor = kernel_.tensors[index];
    std::int64_t bits = bits_of(tensor.dtype);
    for (const Expr& extent : tensor.shape) {
      const Result<std::int64_t> value = extent.evaluate(params_);
      if (!value) error_.faults.insert(error_.faults.end(), value.error().faults.begin(), value.error().faults.end());
      bits = sat_mul(bits, value ? std::max<std::int64_t>(*value, 0) : 1);
    }
    std::vector<std::uint8_t> contents;
    if (tensor.role == TensorRole::Index && params_.tables)
      if (const auto table = params_.tables->find(tensor.name); table != params_.tables->end())
        for (const std::int32_t entry : *table->second.values)
          for (const std::uint8_t byte : ptx::bytes_of(static_cast<std::uint32_t>(entry), 4)) contents.push_back(byte);
    const std::uint64_t bytes = std::max<std::uint64_t>(static_cast<std::uint64_t>(bits + 7) / 8, contents.size());
    return addresses_[index] = memory(tensor.name, bytes, std::move(contents));
  }

  const Kernel& kernel_;
  const Scope& params_;
  const Emission& emission_;
  const LaunchPlan& plan_;
  std::vector<std::uint64_t> addresses_;
  ptx::Launch launch_;
  Error error_;
};

}  // namespace

Result<ptx::Launch> ptx_launch(const Kernel& kernel, const Scope& params, const Emission& emission, std::int64_t sms) {
  return LaunchWriter(kernel, params, emission).launch(sms);
}

}  // namespace heddle::codegen
