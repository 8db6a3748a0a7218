// K.cu: the device text in a namespace of its own, so that two packages link into one program, and tables for the host code.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/package/c_text.h"
#include "codegen/package/parts.h"
#include "codegen/run/driver.h"
#include "codegen/run/map_arguments.h"
#include "core/kernel/scalars.h"

namespace heddle::codegen {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
}

std::string device_part(const PackageParts& parts) {
  std::string text = parts.subject.emission.source;
  replace_all(text, "extern \"C\" __global__", "__global__");
  replace_all(text, parts.launch().entry, "heddle_" + parts.name + "_kernel");
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

const char* type_name(int type) {
  switch (type) {
    case cuda::kMapI32: return "CU_TENSOR_MAP_DATA_TYPE_INT32";
    case cuda::kMapF16: return "CU_TENSOR_MAP_DATA_TYPE_FLOAT16";
    case cuda::kMapF32: return "CU_TENSOR_MAP_DATA_TYPE_FLOAT32";
    case cuda::kMapBf16: return "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16";
    default: return "CU_TENSOR_MAP_DATA_TYPE_UINT8";
  }
}

const char* swizzle_name(int swizzle) {
  switch (swizzle) {
    case cuda::kMapSwizzle32: return "CU_TENSOR_MAP_SWIZZLE_32B";
    case cuda::kMapSwizzle64: return "CU_TENSOR_MAP_SWIZZLE_64B";
    case cuda::kMapSwizzle128: return "CU_TENSOR_MAP_SWIZZLE_128B";
    default: return "CU_TENSOR_MAP_SWIZZLE_NONE";
  }
}

/// Of the kernel's tensors, in the package's order.
std::size_t place_of(const PackageParts& parts, std::size_t tensor) {
  const auto found = std::find_if(parts.tensors.begin(), parts.tensors.end(), [&](const PackageTensor& t) { return t.tensor == tensor; });
  return static_cast<std::size_t>(found - parts.tensors.begin());
}

std::string tensor_facts(const PackageParts& parts) {
  std::string text;
  for (const PackageTensor& t : parts.tensors)
    text += fmt::format("    {{{}, {}, {}, {}, {}, {}}},\n", c_string(t.member), t.extents.size(), bits_of(t.dtype), t.strided,
                        is_written(t.role), t.role == TensorRole::Index ? 4 : 16);
  return text;
}

std::string map_facts(const PackageParts& parts) {
  std::string text;
  for (const TensorMapPlan& plan : parts.launch().maps) {
    const MapArguments map = map_arguments(plan, parts.subject.kernel.tensors[plan.tensor].dtype);
    text += fmt::format("    {{{}, {}, {}, {}, {{{}}}, {}}},\n", place_of(parts, plan.tensor), type_name(map.type), map.element_bytes,
                        map.box.size(), fmt::join(map.box, ", "), swizzle_name(map.swizzle));
  }
  return text.empty() ? "    {0, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 0, {0}, CU_TENSOR_MAP_SWIZZLE_NONE},\n" : text;  // no array is empty
}

/// Rows in another order have strides that are multiples of the innermost extent, whatever that is.
std::string map_stride(const TensorMapPlan& map, std::size_t d, const std::string& inner) {
  const std::int64_t stride = map.strides[d], columns = map.extents[0];
  return map.extent_texts.empty() || d == 0 || stride % columns != 0 ? std::to_string(stride)
                                                                     : fmt::format("{} * ({})", stride / columns, inner);
}

/// Statements that fill in Shape, but for what checks the sizes.
std::string shape_lines(const PackageParts& parts) {
  std::string text;
  for (std::size_t t = 0; t < parts.tensors.size(); ++t)
    for (std::size_t d = 0; d < parts.tensors[t].extents.size(); ++d)
      text += fmt::format("  shape.extents[{}][{}] = {};\n", t, d, parts.tensors[t].extents[d]);
  for (std::size_t m = 0; m < parts.launch().maps.size(); ++m) {
    const TensorMapPlan& map = parts.launch().maps[m];
    const auto extent = [&](std::size_t d) { return map.extent_texts.empty() ? std::to_string(map.extents[d]) : map.extent_texts[d]; };
    for (std::size_t d = 0; d < map.extents.size(); ++d) {
      text += fmt::format("  shape.map_extents[{}][{}] = {};\n", m, d, extent(d));
      if (!map.strides.empty()) text += fmt::format("  shape.map_strides[{}][{}] = {};\n", m, d, map_stride(map, d, extent(0)));
    }
  }
  return text;
}

/// The floats behind the ints of the kernel's struct Sizes.
std::string scalar_lines(const PackageParts& parts, const RunTimeSizes& sizes) {
  std::string text, numbers;
  for (const PackageScalar& scalar : parts.scalars) {
    text += fmt::format("  const double number_{0} = given.{0} != 0 ? given.{0} : {1};\n", scalar.name, scalar.standard);
    text += fmt::format(
        "  if (!(number_{0} >= {1} && number_{0} <= {2})) return failed(HEDDLE_{3}_SIZE, \"{0} is %g: {1} to {2} is possible\", "
        "number_{0});\n",
        scalar.name, kLeastScalar, kMostScalar, parts.upper);
  }
  for (const ScalarField& field : sizes.numbers)
    numbers +=
        fmt::format("{}static_cast<float>(number_{} * {})", numbers.empty() ? "" : ", ", parts.scalars[field.scalar].name, field.factor);
  if (numbers.empty()) return text;
  return text + fmt::format("  const float numbers[] = {{{}}};\n  std::memcpy(shape.fields + {}, numbers, sizeof numbers);\n", numbers,
                            sizes.fields.size());
}

/// Of a kernel with sizes at run time: the caller's numbers, what must hold of them, and what the kernel is given. One after the other: a
/// formula may rely on the conditions before it.
std::string size_lines(const PackageParts& parts, const RunTimeSizes& sizes) {
  std::string text, values, names;
  for (const PackageSize& size : parts.sizes) {
    text += fmt::format("  const i64 {0} = given.{0};\n", size.name);
    names += fmt::format("{}{} = %lld", names.empty() ? "" : ", ", size.name);
    values += ", " + size.name;
  }
  text += fmt::format("  const auto wrong = [&](const char* sentence) {{ return failed(HEDDLE_{}_SIZE, \"%s ({})\", sentence{}); }};\n",
                      parts.upper, names, values);
  for (const SizeCondition& condition : sizes.conditions) {
    const bool given =
        condition.rows_of && parts.tensors[place_of(parts, *condition.rows_of)].strided;  // then they are looked at themselves
    text +=
        fmt::format("  if ({}!({})) return wrong({});\n", given ? "contiguous && " : "", condition.formula, c_string(condition.sentence));
  }
  text += shape_lines(parts);
  text += "  const i64 fields[] = {\n";
  for (const SizeField& field : sizes.fields) text += fmt::format("      {},  // {}\n", field.formula, c_comment(field.name));
  text += "  };\n";
  text +=
      "  for (int f = 0; f < static_cast<int>(sizeof fields / sizeof *fields); ++f) {\n    if (fields[f] < INT32_MIN || fields[f] > "
      "INT32_MAX) return wrong(\"the sizes are too "
      "large\");\n";
  text += "    shape.fields[f] = static_cast<int>(fields[f]);\n  }\n";
  text += scalar_lines(parts, sizes);
  text += fmt::format("  shape.tiles = {};\n", sizes.tiles);
  return text + "  if (shape.tiles < 1 || shape.tiles > INT32_MAX) return wrong(\"there are too many tiles, or none\");\n";
}

std::vector<std::string> formulas_of(const PackageParts& parts) {
  std::vector<std::string> all;
  for (const PackageTensor& tensor : parts.tensors) all.insert(all.end(), tensor.extents.begin(), tensor.extents.end());
  for (const TensorMapPlan& map : parts.launch().maps) all.insert(all.end(), map.extent_texts.begin(), map.extent_texts.end());
  const auto& sizes = parts.launch().sizes;
  if (!sizes) return all;
  for (const SizeField& field : sizes->fields) all.push_back(field.formula);
  for (const SizeCondition& condition : sizes->conditions) all.push_back(condition.formula);
  all.push_back(sizes->tiles);
  return all;
}

std::string runs_on_text(const std::string& arch) {
  // Code for one kind of Blackwell is compiled for another by -arch: the runtime finds out whether it was.
  return arch.starts_with("sm_10") ? "major == 10" : "major == 9 && minor == 0";
}

std::string argument_list(const PackageParts& parts) {
  std::vector<std::string> arguments;
  for (std::size_t m = 0; m < parts.launch().maps.size(); ++m) arguments.push_back(fmt::format("&prepared.maps[{}]", m));
  for (const std::size_t t : parts.launch().pointers) arguments.push_back(fmt::format("&prepared.call.data[{}]", place_of(parts, t)));
  if (parts.launch().sizes) arguments.push_back("prepared.fields");
  return fmt::format("{}", fmt::join(arguments, ", "));
}

std::string call_lines(const PackageParts& parts) {
  std::string text, strides;
  for (std::size_t t = 0; t < parts.tensors.size(); ++t) {
    text += fmt::format("  call.data[{}] = tensors->{};\n", t, parts.tensors[t].member);
    strides += fmt::format("{}strides ? strides->{} : nullptr", t > 0 ? ", " : "", parts.tensors[t].member);
  }
  for (std::size_t s = 0; s < parts.sizes.size(); ++s) text += fmt::format("  call.sizes[{}] = sizes->{};\n", s, parts.sizes[s].name);
  for (std::size_t s = 0; s < parts.scalars.size(); ++s) text += fmt::format("  call.scalars[{}] = sizes->{};\n", s, parts.scalars[s].name);
  return text + fmt::format("  const int64_t* const given[kTensors] = {{{}}};\n", strides);
}

}  // namespace

std::string host_text(const PackageParts& parts) {
  const LaunchPlan& launch = parts.launch();
  const bool sized = launch.sizes.has_value(), asked = !parts.sizes.empty();
  const std::vector<std::string> formulas = formulas_of(parts);
  Blanks blanks = parts.blanks();
  const auto blank = [&](std::string_view name, std::string text) { blanks.emplace_back(name, std::move(text)); };
  blank("DEVICE", device_part(parts));
  blank("TENSORS", std::to_string(parts.tensors.size()));
  blank("MAPS", std::to_string(launch.maps.size()));
  blank("FIELDS", std::to_string(sized ? launch.sizes->fields.size() + launch.sizes->numbers.size() : 0));
  blank("SCALAR_COUNT", std::to_string(parts.scalars.size()));
  blank("SIZE_COUNT", std::to_string(parts.sizes.size()));
  blank("THREADS", std::to_string(launch.threads));
  blank("CLUSTER", std::to_string(launch.cluster));
  blank("SHARED", std::to_string(launch.smem_bytes));
  blank("TENSOR_FACTS", tensor_facts(parts));
  blank("MAP_FACTS", map_facts(parts));
  blank("HELPERS", formula_helpers(formulas));
  blank("SHAPE_ARGUMENT", asked ? fmt::format("const heddle_{}_sizes& given, [[maybe_unused]] bool contiguous, ", parts.name) : "");
  blank("SHAPE", (sized ? size_lines(parts, *launch.sizes) : shape_lines(parts) + fmt::format("  shape.tiles = {};\n", launch.tiles)));
  blank("RUNS_ON", runs_on_text(parts.subject.program.arch));
  blank("ARGUMENTS", argument_list(parts));
  blank("RUN_SIZES", asked ? fmt::format("const heddle_{}_sizes* sizes, ", parts.name) : "");
  blank("NO_SIZES", asked ? " || !sizes" : "");
  blank("AND_SIZES", asked ? " and sizes" : "");
  blank("OR_SIZES", asked ? ", or no sizes" : "");
  blank("SIZES_VALUE", asked ? "*sizes, !strides, " : "");
  blank("CALL", call_lines(parts));
  return filled("host.cu.in", blanks);
}

}  // namespace heddle::codegen
