#include "core/machine/clock.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/base/scanner.h"
#include "core/base/suggest.h"

namespace heddle {

ClockAnswer clock_of(const Machine& machine, const ClockChoice& choice, double tensor_use, double arithmetic_use) {
  const ClockModel& model = machine.clock;
  const auto at = [](double mhz, std::string text) { return ClockAnswer{mhz, std::move(text)}; };
  if (choice.kind == ClockChoice::Kind::Fixed) return at(static_cast<double>(choice.mhz), fmt::format("{} MHz", choice.mhz));
  if (model.max_mhz == 0) {
    const double mhz = static_cast<double>(machine.clock_mhz) * choice.speed;
    return at(mhz, fmt::format("{:.0f} MHz{}", mhz, choice.speed == 1 ? "" : ", scaled to this device"));
  }
  if (choice.kind == ClockChoice::Kind::Max)
    return at(static_cast<double>(model.max_mhz), fmt::format("{} MHz, the maximum", model.max_mhz));
  const std::int64_t power = choice.power_w.value_or(model.power_w);
  const auto per_mille = [](double use) { return std::llround(1000 * use); };
  const Result<std::int64_t> sustained =
      model.sustained_mhz.evaluate(model.scope(power, per_mille(tensor_use), per_mille(arithmetic_use), choice.zeros));
  // A formula that cannot be evaluated here (it was where the file was read) says nothing of the load.
  const double mhz = std::min(static_cast<double>(model.max_mhz), (sustained ? static_cast<double>(*sustained) : 0) * choice.speed);
  if (mhz <= 0) return at(static_cast<double>(model.max_mhz), fmt::format("{} MHz, the maximum", model.max_mhz));
  return at(mhz, fmt::format("{:.0f} MHz sustained at {} W, tensor cores busy {:.0f} %{}{}", mhz, power, 100 * tensor_use,
                             choice.zeros ? ", data all zeros" : "", choice.speed == 1 ? "" : ", scaled to this device"));
}

Result<double> speed_of(const Machine& machine, const std::string& measured) {
  const std::size_t equals = measured.find('=');
  const std::string name = measured.substr(0, equals);
  if (equals == std::string::npos) return Error::input(fmt::format("expected NAME=TFLOPS, found '{}'", measured), "cublas_8192=795");
  const double tflops = read_number<double>(std::string_view(measured).substr(equals + 1)).value_or(0);
  if (!(tflops > 0 && tflops < 1e6))
    return Error::input(fmt::format("expected a number of TFLOP/s after '{}=', found '{}'", name, measured.substr(equals + 1)));
  std::vector<std::string> known;
  for (const ClockModel::Anchor& anchor : machine.clock.anchors) {
    if (anchor.name == name) return tflops / anchor.tflops;
    known.push_back(anchor.name);
  }
  return Error::input(fmt::format("machine {} has no anchor '{}' ({})", machine.name, name,
                                  known.empty() ? "its file gives none" : "known: " + list_of(known)),
                      did_you_mean(name, known));
}

}  // namespace heddle
