#include "app/batch/job_result.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "app/command/exit_code.h"
#include "app/jobs/heddle_child.h"
#include "core/answers/summary.h"
#include "core/base/text_style.h"
#include "core/base/words.h"
#include "core/formats/schema.h"

namespace heddle::app {
namespace {

constexpr std::array kMeasured{"seconds", "queries", "conflicts", "from_cache", "date"};

std::string text_at(const Json& json, const char* key) {
  const Json* value = json.find(key);
  const std::string* text = value ? value->string() : nullptr;
  return text ? *text : std::string();
}

bool flag_at(const Json& json, const char* key) {
  const Json* value = json.find(key);
  const bool* flag = value ? value->boolean() : nullptr;
  return flag && *flag;
}

/// Of a command that has answered; the status of a schedule is the solver's word for it.
JobStatus status_by_exit(int code, const Json& answer) {
  const std::string word = text_at(answer, "status");
  switch (code) {
    case kDone: return word == "optimal" ? JobStatus::Proved : word == "feasible" ? JobStatus::Feasible : JobStatus::Done;
    case kNegative: return word == "infeasible" ? JobStatus::Infeasible : JobStatus::Negative;
    case kNoProof:
      if (word == "feasible" && !flag_at(answer, "serial")) return JobStatus::Feasible;  // --require-optimal
      return flag_at(answer, "timed_out") ? JobStatus::Timeout : JobStatus::Unknown;
    case kEnvironment: return JobStatus::Unavailable;
    case kKernelFailed: return JobStatus::KernelFailed;
    case kInternal: return JobStatus::Crashed;
    default: return JobStatus::Failed;
  }
}

}  // namespace

const char* to_string(JobStatus status) {
  switch (status) {
    case JobStatus::Proved: return "proved";
    case JobStatus::Feasible: return "feasible";
    case JobStatus::Infeasible: return "infeasible";
    case JobStatus::Done: return "done";
    case JobStatus::Negative: return "negative";
    case JobStatus::Unknown: return "unknown";
    case JobStatus::Timeout: return "timeout";
    case JobStatus::OutOfMemory: return "out of memory";
    case JobStatus::Crashed: return "crashed";
    case JobStatus::Failed: return "failed";
    case JobStatus::Unavailable: return "unavailable";
    case JobStatus::KernelFailed: return "kernel failed";
    case JobStatus::BadLine: return "bad line";
  }
  return "failed";
}

bool is_final(JobStatus status) {
  return status != JobStatus::Unknown && status != JobStatus::Timeout && status != JobStatus::OutOfMemory && status != JobStatus::Crashed &&
         status != JobStatus::Unavailable;
}

void leave_out_times(Json& json) {
  if (Json::Array* items = json.items()) {
    for (Json& item : *items) leave_out_times(item);
  } else if (Json::Object* members = json.members()) {
    std::erase_if(*members,
                  [](const JsonMember& member) { return std::find(kMeasured.begin(), kMeasured.end(), member.key) != kMeasured.end(); });
    for (JsonMember& member : *members)
      if (member.key != "params") leave_out_times(member.value);  // a parameter may have any name
  }
}

bool tells_of_memory(std::string_view line, bool limited) {
  const auto has = [&](std::string_view words) { return line.find(words) != line.npos; };
  if (has("out of memory") || has("std::bad_alloc")) return true;
  // Threads and files run out of other things too, but hardly under a limit of memory.
  return limited && (has("Cannot allocate memory") || has("Resource temporarily unavailable"));
}

JobResult judge(const Job& job, const ChildResult& child, bool memory_ended) {
  JobResult result;
  result.peak_kib = child.peak_kib;
  const Result<Json> json = parse_json(child.out, "");
  if (json && json->is_object()) {
    result.answer = *json;
    // What a GPU measured is the answer itself.
    const bool measured = (job.command == "run" || job.command == "profile") && child.code == kDone;
    if (!measured) leave_out_times(result.answer);
  } else if (!child.out.empty() && child.code == kDone) {
    result.answer = Json::object().set("text", child.out);
  }
  // What was asked to stop may have been done at that very moment.
  const bool cut_short = child.timed_out && (child.signal != 0 || child.code == kInterrupted || flag_at(result.answer, "cancelled"));
  result.status = cut_short ? JobStatus::Timeout : child.signal != 0 ? JobStatus::Crashed : status_by_exit(child.code, result.answer);
  // A schedule whose proof fell victim to the limit is not all that there is to have.
  const bool short_of_something = result.status == JobStatus::Feasible || result.status == JobStatus::Unknown ||
                                  result.status == JobStatus::Crashed || result.status == JobStatus::Unavailable;
  if (memory_ended && short_of_something) result.status = JobStatus::OutOfMemory;
  if (result.status == JobStatus::Crashed) result.answer = Json();
  if (result.answer.is_object()) return result;
  const std::string_view last = child.last_error;
  if (cut_short)
    result.message = "its time was over";
  else if (result.status == JobStatus::OutOfMemory)
    result.message = "there was not enough memory";
  else if (child.signal != 0)
    result.message = fmt::format("ended by signal {} ({})", child.signal, ::strsignal(child.signal));
  else if (!last.empty())
    result.message = printable(without_name(last));
  else if (child.code != kDone)
    result.message = fmt::format("ended with code {} and said nothing", child.code);
  return result;
}

Json result_schema() {
  using namespace schema;
  return line("heddle.result/1", "A line of a Heddle results file", [](Object& root) {
    const Json text = type("string"), digest = matching(root.definitions(), "digest", "^[0-9a-f]{16}$"), number = integer(1, kMostJobs);
    Object fault(root.definitions());
    fault.required("file", text).required("pointer", text).required("message", text).required("hint", text);
    root.called("",
                "What heddle batch writes: JSON Lines, one per job, in the order of the jobs, the same for the same inputs. Written only.")
        .open();
    root.required("job", number, "its number in the whole job file, grids counted out");
    root.required("of", number, "jobs in the whole job file").required("batch", digest, "digest of all jobs with what they read");
    root.required("line", count(), "of the job file");
    root.required("id", digest, "digest of the job: its command line, the files it reads, the versions of Heddle and of the solver");
    root.optional("do", text).optional("params", params(), "of this job, grids resolved");
    root.optional("options", type("object"), "of this job, grids resolved").required("status", words(words_up_to(JobStatus::BadLine)));
    root.optional("message", text, "where there is no answer");
    root.optional("result", type("object"),
                  "what the command prints with --json, without wall times and counters of the search; {\"text\"} where it prints a text");
    root.optional("faults", list(fault.finish()), "of a bad line");
  });
}

Json result_line(const JobFile& file, const Job& job, const JobResult* result) {
  Json line = Json::object();
  line.set("job", job.number).set("of", file.jobs.size()).set("batch", file.batch).set("line", job.line).set("id", job.id);
  for (const JsonMember& member : *job.description.members()) line.set(member.key, member.value);
  if (!job.faults.empty()) return line.set("status", to_string(JobStatus::BadLine)).set("faults", faults_json(job.faults));
  line.set("status", to_string(result->status));
  if (!result->message.empty()) line.set("message", result->message);
  if (!result->answer.is_null()) line.set("result", result->answer);
  return line;
}

std::optional<JobResult> parse_result(const Json& line) {
  JobResult result;
  const auto status = parse_word(text_at(line, "status"), JobStatus::BadLine);
  if (!status || *status == JobStatus::BadLine) return std::nullopt;
  result.status = *status;
  result.message = text_at(line, "message");
  if (const Json* answer = line.find("result")) result.answer = *answer;
  if (const Json* seconds = line.find("seconds"))
    result.seconds = seconds->number() ? *seconds->number() : seconds->integer() ? static_cast<double>(*seconds->integer()) : 0;
  if (const Json* peak = line.find("peak_kib"); peak && peak->integer()) result.peak_kib = *peak->integer();
  return result;
}

}  // namespace heddle::app
