#include "app/jobs/kernel_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "codegen/interpret/interpret.h"
#include "codegen/interpret/verify.h"
#include "codegen/program/target.h"
#include "codegen/program/text.h"
#include "core/base/text_style.h"

namespace heddle::app {

namespace {

codegen::CompileQuestion question_of(const KernelSubject& of, const KernelOptions& options) {
  return {*of.spec.kernel, *of.problem, *of.schedule, options.trips, options.records};
}

/// What stands in the way of writing it so; empty: nothing.
std::string why_not_written(const KernelSubject& of, const KernelOptions& options) {
  const WrittenKernel kernel = written_kernel(question_of(of, options), options.build);
  return kernel.refusals.empty() ? std::string() : printable(kernel.refusals.front().sentence);
}

/// Without turns the order of wgmmas is what the hardware makes of it; with them, of whom?
std::string why_no_turns(const codegen::Program& program) {
  if (program.turns) return {};
  std::size_t issuing = 0;
  for (const codegen::Role& role : program.roles)
    issuing += std::any_of(role.sections.begin(), role.sections.end(), [](const codegen::Section& section) {
      return std::any_of(section.steps.begin(), section.steps.end(),
                         [](const codegen::Step& step) { return step.engine == codegen::Engine::Mma; });
    });
  if (issuing == 0) return "the kernel has no wgmma to keep in order";
  if (issuing == 1) return "one role issues all wgmmas, in its own order";
  return "between these roles no order of wgmmas is worth a barrier: they do nothing beside them, or change places too often";
}

/// Of what is not chosen: could it be? What this kernel cannot be written as at all has no need of a reason for more.
KernelOffers offers_of(const KernelSubject& of, const KernelText& text) {
  KernelOffers offers;
  const auto with = [&](auto change) {
    KernelOptions options = of.options;
    change(options);
    return why_not_written(of, options);
  };
  if (of.options.build.cluster == 1) offers.cluster = with([](KernelOptions& o) { o.build.cluster = 2; });
  if (of.options.records != codegen::Recording::Loop)
    offers.loop_records = with([](KernelOptions& o) { o.records = codegen::Recording::Loop; });
  if (of.options.records != codegen::Recording::Ops)
    offers.op_records = with([](KernelOptions& o) { o.records = codegen::Recording::Ops; });
  if (of.options.build.turns) {
    if (text.program) offers.turns = why_no_turns(*text.program);
  } else {
    KernelOptions options = of.options;
    options.build.turns = true;
    if (const auto kernel = written_kernel(question_of(of, options), options.build, KernelGoal::Program); kernel.program)
      offers.turns = why_no_turns(*kernel.program);
  }
  return offers;
}

/// Pseudocode and lines of a program and its text.
void add_models(KernelText& text) {
  const KernelSubject& of = text.of;
  text.steps = plain_text_model(codegen::program_page(*of.spec.kernel, *text.program, {100, false, false}));
  if (text.emission) text.source = source_model(*of.spec.kernel, *of.problem, *text.program, *text.emission);
}

OpId op_of_step(const KernelSubject& of, const std::optional<codegen::OpRef>& ref) {
  return ref && ref->list == codegen::OpRef::List::Body && ref->index < of.problem->ops.size() ? OpId(ref->index) : OpId();
}

void take_fault(const KernelSubject& of, const codegen::ProgramFault& fault, KernelCheck& check) {
  check.kind = codegen::to_string(fault.kind);
  check.role = printable(fault.role);
  check.step = printable(fault.step);
  check.op = op_of_step(of, fault.op);
}

void check_with_data(const KernelText& text, const CheckRequest& request, const std::stop_token& stop,
                     const std::function<void(std::string)>& say, KernelCheck& check) {
  const KernelSubject& of = text.of;
  const codegen::DataRequest question{Instance(of.spec, of.problem), of.spec.params, *of.schedule, text.build, 1, request.interleavings};
  say("computing what the kernel's graph computes");
  const auto found = codegen::verify_with_data(question, stop, [&](std::int64_t done) {
    say(fmt::format("{} of {} with data", done, count_of(request.interleavings, "interleaving")));
  });
  if (!found.ok()) {
    check.failure = printable(found.error().faults.front().message);
    return;
  }
  check.done = found->done;
  check.tiles = found->blocks;
  check.trips = found->trips;
  check.roles = found->roles;
  if (found->fault) {
    check.fault = codegen::to_string(*found->fault);
    take_fault(of, *found->fault, check);
  } else if (!found->wrong.empty()) {
    check.fault = found->wrong;
    check.kind = "wrong result";
    // Who writes it, where that is in the loop.
    for (std::size_t i = 0; i < of.spec.kernel->body.size(); ++i)
      if (of.spec.kernel->body[i].tensor == found->tensor) check.op = op_of_step(of, codegen::OpRef{codegen::OpRef::List::Body, i});
  }
}

}  // namespace

bool same_kernel(const KernelSubject& a, const KernelSubject& b) {
  if (a.options != b.options || a.problem != b.problem || !a.schedule || !b.schedule) return false;
  return a.schedule == b.schedule || same_program(*a.schedule, *b.schedule);
}

bool same_text(const KernelSubject& a, const KernelSubject& b) {
  const auto says_the_same = [](const std::optional<Certificate>& x, const std::optional<Certificate>& y) {
    return x.has_value() == y.has_value() &&
           (!x || (x->status == y->status && x->lower_bound == y->lower_bound && x->problem_hash == y->problem_hash));
  };
  return same_kernel(a, b) && says_the_same(a.schedule->certificate, b.schedule->certificate) &&
         says_the_same(a.schedule->claim, b.schedule->claim);
}

KernelText write_kernel(const KernelSubject& of, const std::optional<codegen::BuildOptions>& cuts) {
  const codegen::BuildOptions& build = cuts ? *cuts : of.options.build;
  KernelText text;
  text.of = of;
  if (auto refusal = codegen::refuse_machine(*of.spec.machine)) {
    const std::string why = printable(refusal->sentence);
    text.build = build;
    text.offers = {why, why, why, why};
    text.refusals.push_back(std::move(*refusal));
    return text;
  }
  static_cast<WrittenKernel&>(text) = written_kernel(question_of(of, of.options), build);
  text.offers = offers_of(of, text);
  if (text.program) add_models(text);
  return text;
}

KernelCheck check_kernel(const KernelText& text, const CheckRequest& request, std::stop_token stop,
                         const std::function<void(std::string)>& say) {
  constexpr std::int64_t kTiles = 2;  // as `heddle interpret` has it
  KernelCheck check;
  check.of = text.of;
  check.wanted = request.interleavings;
  check.data = request.data;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  if (request.data) {
    check_with_data(text, request, stop, say, check);
    check.seconds = seconds();
    return check;
  }
  check.tiles = kTiles;
  check.trips = text.program->trips;
  check.roles = text.program->roles.size();
  double said = -1;
  for (std::int64_t k = 0; k < request.interleavings && !stop.stop_requested(); ++k) {
    if (seconds() - said > 0.1) {
      said = seconds();
      say(fmt::format("{} of {}", k, count_of(request.interleavings, "interleaving")));
    }
    const auto fault = codegen::run_symbolic(*text.of.spec.kernel, *text.program, {static_cast<std::uint64_t>(k), kTiles});
    check.done = k + 1;
    if (!fault) continue;
    check.fault = codegen::to_string(*fault);
    take_fault(text.of, *fault, check);
    break;
  }
  check.seconds = seconds();
  return check;
}

KernelBuild build_kernel(std::shared_ptr<const KernelText> text, const codegen::CompileFunction& compile, const std::stop_token& stop,
                         const std::function<void(std::string)>& say) {
  KernelBuild build;
  build.of = text->of;
  build.text = text;
  const KernelSubject& of = text->of;
  auto kernel =
      compiled_kernel(question_of(of, of.options), {text->build, *text->program, *text->emission, {}, {}, {}, {}}, compile, stop, say);
  if (!kernel.ok()) {
    build.error = kernel.error();
    // What does not compile has its log in the error, below a sentence.
    for (const Fault& fault : kernel.error().faults)
      for (codegen::BuildMessage& message : codegen::parse_build_log(fault.message)) build.messages.push_back(std::move(message));
    return build;
  }
  if (kernel->emission.source != text->emission->source) {
    auto written = std::make_shared<KernelText>();
    written->of = of;
    written->build = std::move(kernel->build);
    written->offers = text->offers;
    written->program = std::move(kernel->program);
    written->emission = std::move(kernel->emission);
    add_models(*written);
    build.text = std::move(written);
  }
  build.compiled = std::move(kernel->compiled);
  build.faults = std::move(kernel->faults);
  build.audit = std::move(kernel->audit);
  build.audit_lines = codegen::audit_text(build.audit, *of.spec.kernel, *build.text->program, *build.text->emission);
  build.findings = std::move(kernel->findings);
  build.messages = codegen::parse_build_log(build.compiled.log);
  return build;
}

KernelTools built_in_tools() {
  KernelTools tools;
  tools.find_compiler = [] { return codegen::find_compiler(); };
  tools.compile = [](const std::string& source, const std::string& arch) {
    return codegen::compile_cuda(source, {codegen::Compiler::Auto, codegen::default_cache(), nullptr, arch});
  };
  return tools;
}

}  // namespace heddle::app
