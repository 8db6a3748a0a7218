#include "core/machine/fitted.h"

#include <algorithm>

#include "core/base/assert.h"

namespace heddle {
namespace {

template <auto Part, auto Field>
constexpr FittedField field(const char* name) {
  return {name, [](const Machine& machine) { return machine.*Part.*Field; },
          [](Machine& machine, std::int64_t value) { machine.*Part.*Field = value; }};
}

constexpr FittedField kFittedFields[] = {
    field<&Machine::clock, &ClockModel::loaded_mhz>("clock.loaded_mhz"),
    field<&Machine::clock, &ClockModel::arithmetic_power>("clock.arithmetic_power"),
    field<&Machine::shared, &SharedSupply::l2_bytes>("shared.l2_bytes"),
    field<&Machine::shared, &SharedSupply::launch_ns>("shared.launch_ns"),
    field<&Machine::streams, &StreamCosts::arithmetic_percent>("streams.arithmetic_percent"),
    field<&Machine::streams, &StreamCosts::product_wait>("streams.product_wait"),
    field<&Machine::streams, &StreamCosts::turn>("streams.turn"),
};

}  // namespace

std::span<const FittedField> fitted_fields() { return kFittedFields; }

const FittedField* find_fitted_field(std::string_view name) {
  const auto* it = std::find_if(std::begin(kFittedFields), std::end(kFittedFields), [&](const FittedField& f) { return f.name == name; });
  return it == std::end(kFittedFields) ? nullptr : it;
}

FittedNumber fitted_range(const Machine& machine, const std::string& name) {
  for (const FittedNumber& number : machine.fitted)
    if (number.number == name) return number;
  const FittedField* field = find_fitted_field(name);
  HEDDLE_ASSERT(field, "a number that can be fitted has a known name");
  const std::int64_t value = field->get(machine);
  return {name, value, value, ""};
}

}  // namespace heddle
