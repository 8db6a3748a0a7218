// README.md: what a stranger needs to build, call and trust it.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/package/c_text.h"
#include "codegen/package/parts.h"
#include "core/answers/summary.h"
#include "core/kernel/scalars.h"

namespace heddle::codegen {
namespace {

constexpr int kWidth = 120;

/// As a block of a page, without the empty lines that it begins with.
std::string indented(const std::string& text) {
  std::string result, line;
  for (const char c : text.substr(std::min(text.find_first_not_of('\n'), text.size())) + (text.ends_with('\n') ? "" : "\n")) {
    line += c;
    if (c != '\n') continue;
    result += line == "\n" ? line : "    " + line;
    line.clear();
  }
  return result;
}

std::string call_text(const PackageParts& parts) {
  std::string text = fmt::format("heddle_{0}_handle handle;\nheddle_{0}_create(&handle, 0); /* device 0, once */\n", parts.name), members;
  for (const PackageTensor& tensor : parts.tensors) members += (members.empty() ? "" : ", ") + tensor.member;
  if (!parts.sizes.empty()) {
    std::string sizes;
    for (const PackageSize& size : parts.sizes) sizes += (sizes.empty() ? "" : ", ") + size.name;
    for (const PackageScalar& scalar : parts.scalars) sizes += ", " + scalar.name;
    text += fmt::format("heddle_{}_sizes sizes = {{{}}};\n", parts.name, sizes);
  }
  text += fmt::format("heddle_{}_tensors tensors = {{{}}}; /* addresses on the device */\n", parts.name, members);
  text += fmt::format("if (heddle_{0}_run(handle, stream, {1}&tensors, NULL)) puts(heddle_{0}_last_error()); /* NULL: contiguous */\n",
                      parts.name, parts.sizes.empty() ? "" : "&sizes, ");
  return text + fmt::format("heddle_{}_destroy(handle);\n", parts.name);
}

std::string tensor_list(const PackageParts& parts) {
  std::string text;
  for (const PackageTensor& tensor : parts.tensors) {
    const char* role = tensor.role == TensorRole::Output  ? "written"
                       : tensor.role == TensorRole::InOut ? "added to"
                       : tensor.role == TensorRole::Index ? "read, whole numbers of at least -1"
                                                          : "read";
    text += fmt::format("- `{}`: {} of [{}], {}{}{}\n", tensor.member, to_string(tensor.dtype), fmt::join(tensor.extents, ", "), role,
                        tensor.packed ? ", prepacked (`place_of_...` in the .cu says where each number lies)" : "",
                        tensor.strided ? "; rows may lie apart by multiples of 16 bytes" : "; contiguous");
  }
  return text;
}

std::string conditions(const PackageParts& parts) {
  std::string text;
  for (const PackageScalar& scalar : parts.scalars)
    text +=
        fmt::format("- {0} is from {1} to {2}, or 0, which stands for {3:.9g}\n", scalar.name, kLeastScalar, kMostScalar, scalar.standard);
  for (const std::string& sentence : condition_sentences(parts)) text += "- " + printable(sentence) + "\n";
  return text.empty() ? "" : "\nWhat must hold, or `run` answers with an error that says so:\n\n" + text;
}

std::string proof(const PackageSubject& subject) {
  const Schedule& schedule = subject.schedule;
  if (schedule.certificate) {
    const Certificate& c = *schedule.certificate;
    return fmt::format("Proof: {}, lower bound {} cycles an iteration{}, proved by the program that wrote this (problem {}).{}\n",
                       to_string(c.status), c.lower_bound, stages_text(c.bound_stages), c.problem_hash,
                       c.period ? " " + printable(period_sentence(*c.period, schedule.ii)) : std::string());
  }
  if (schedule.claim)
    return fmt::format("Proof: none by the program that wrote this; the schedule's file says {}, lower bound {} (problem {}).\n",
                       to_string(schedule.claim->status), schedule.claim->lower_bound, printable(schedule.claim->problem_hash));
  return "Proof: none, nothing is claimed about other schedules.\n";
}

std::string params_text(const PackageParts& parts) {
  std::string text;
  if (!parts.subject.why_fixed_sizes.empty()) text += fmt::format("All sizes, for {}.\n\n", printable(parts.subject.why_fixed_sizes));
  for (const auto& [name, value] : parts.subject.program.params)
    if (std::none_of(parts.sizes.begin(), parts.sizes.end(), [&](const PackageSize& s) { return s.name == name; }))
      text += fmt::format("- `{} = {}`\n", printable(name), value);
  text += fmt::format("- {} threads a block, {} bytes of dynamic shared memory{}\n", parts.launch().threads, parts.launch().smem_bytes,
                      parts.launch().cluster > 1 ? fmt::format(", clusters of {} blocks", parts.launch().cluster) : std::string());
  for (const Buffer& buffer : parts.subject.program.buffers)
    if (buffer.depth > 1) text += fmt::format("- a ring of {} slots for `{}`\n", buffer.depth, printable(buffer.name));
  return text;
}

std::string prediction(const PackageParts& parts) {
  if (!parts.subject.predicted_us) return "";
  std::string sizes;
  for (const PackageSize& size : parts.sizes) sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", size.name, size.value);
  return fmt::format("Prediction, not measured: {} a launch{}.\n", microseconds_text(*parts.subject.predicted_us),
                     sizes.empty() ? "" : " at " + sizes);
}

std::string compilers(const PackageSubject& subject) {
  std::string text;
  for (const std::string& compiler : subject.compilers) text += "- " + printable(compiler) + "\n";
  return text.empty() ? "" : "\nWhat compilers make of it:\n\n" + text;
}

}  // namespace

std::string readme_text(const PackageParts& parts) {
  const PackageSubject& subject = parts.subject;
  Blanks blanks = parts.blanks();
  const auto blank = [&](std::string_view name, std::string text) { blanks.emplace_back(name, std::move(text)); };
  TextStyle style;
  style.width = kWidth;
  style.utf8 = false;
  blank("ABOUT", printable(subject.kernel.about.empty() ? subject.kernel.name : subject.kernel.about));
  blank("COMMAND", subject.command.empty() ? "." : ", by\n\n    " + printable(subject.command));
  const bool blackwell = subject.program.arch.starts_with("sm_10");
  blank("TOOLKIT", blackwell ? "12.8" : "12.0");
  blank("FAMILY", blackwell ? " `compute_100f` and `sm_100f` give code for all of the family (B200, B300)." : "");
  blank("COMPILERS", compilers(subject));
  blank("CALL", call_text(parts));
  blank("TENSORS", tensor_list(parts));
  blank("CONDITIONS", conditions(parts));
  blank("SCHEDULE", fmt::format("{} on {}, an iteration every {} cycles.\n\n{}", printable(subject.kernel.name),
                                printable(machine_title(subject.problem)), subject.schedule.ii,
                                indented(schedule_tables(subject.problem, subject.schedule, style))));
  blank("PROOF", proof(subject));
  blank("PREDICTION", prediction(parts));
  blank("CONSTANTS", params_text(parts));
  return filled("README.md.in", blanks);
}

}  // namespace heddle::codegen
