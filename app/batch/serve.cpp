#include "app/batch/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/batch/job_file.h"
#include "app/batch/job_result.h"
#include "app/jobs/heddle_child.h"
#include "core/answers/summary.h"
#include "core/base/text_style.h"
#include "core/base/words.h"
#include "core/formats/schema.h"

namespace heddle::app {
namespace {

constexpr const char* kRequestSchema = "heddle.request/1";
constexpr const char* kReplySchema = "heddle.reply/1";
constexpr std::size_t kMostOpen = 10'000;

/// A text or an integer: what tells a sender's requests apart.
bool is_id(const Json& id) { return id.string() || id.integer(); }

Json error_line(const Json& id, const std::vector<Fault>& faults) {
  return Json::object().set("id", id).set("event", "error").set("faults", faults_json(faults));
}
Json error_line(const Json& id, std::string message, std::string hint = {}) {
  return error_line(id, {{"request", "", std::move(message), std::move(hint)}});
}

}  // namespace

struct Server::Request {
  Json id;
  std::string key;  ///< the id as JSON
  Job job;
  bool progress = false, running = false;
  std::stop_source stop;
};

Server::Server(ServeOptions options, std::function<void(const std::string&)> write)
    : options_(std::move(options)), write_(std::move(write)) {
  for (std::size_t i = 0; i < options_.at_once; ++i) workers_.emplace_back([this] { work(); });
}

Server::~Server() {
  cancel_all();
  finish();
}

void Server::reply(const Json& line) {
  const std::lock_guard lock(writing_);
  write_(line.line());
}

void Server::take(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == line.npos || line[first] == '#') return;
  if (line.size() > kLongestRequest) return reply(error_line(Json(), fmt::format("a request has at most {} bytes", kLongestRequest)));
  Result<Json> json = parse_json(line, "request");
  if (!json) return reply(error_line(Json(), json.error().faults));
  if (!json->is_object()) return reply(error_line(Json(), "a request is an object", R"({"id": 1, "ask": "solve", ...})"));
  if (const Json* id = json->find("cancel")) {
    if (!is_id(*id)) return reply(error_line(Json(), "\"cancel\" names the id of a request"));
    return cancel(id->line());
  }
  auto request = std::make_shared<Request>();
  if (const Json* id = json->find("id")) request->id = *id;
  if (!is_id(request->id)) return reply(error_line(Json(), "\"id\" is missing", "a text or an integer, which the answer brings back"));
  request->key = request->id.line();
  if (const Json* progress = json->find("progress")) {
    if (!progress->boolean()) return reply(error_line(request->id, "\"progress\" is true or false"));
    request->progress = *progress->boolean();
  }
  if (const Json* schema = json->find("schema"); schema && (!schema->string() || *schema->string() != kRequestSchema))
    return reply(error_line(request->id, fmt::format("\"schema\" is \"{}\"", kRequestSchema)));
  std::erase_if(*json->members(), [](const JsonMember& m) { return m.key == "id" || m.key == "progress" || m.key == "schema"; });
  request->job = parse_job(*json, "request", "ask");
  if (!request->job.faults.empty()) return reply(error_line(request->id, request->job.faults));
  if (request->progress) request->job.words.insert(request->job.words.begin() + 1, "--verbose");
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    if (open_.size() >= kMostOpen)
      why = fmt::format("{} requests are waiting already", kMostOpen);
    else if (std::any_of(open_.begin(), open_.end(), [&](const auto& other) { return other->key == request->key; }))
      why = fmt::format("a request with the id {} is not done yet", request->key);
    else
      open_.push_back(request);
    if (cancelled_) request->stop.request_stop();
  }
  if (!why.empty()) return reply(error_line(request->id, why));
  changed_.notify_one();
}

void Server::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  for (const auto& request : open_)
    if (request->key == id) request->stop.request_stop();
}

void Server::cancel_all() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (const auto& request : open_) request->stop.request_stop();
}

void Server::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  for (std::jthread& worker : workers_)
    if (worker.joinable()) worker.join();
}

void Server::work() {
  for (;;) {
    std::shared_ptr<Request> request;
    {
      std::unique_lock lock(mutex_);
      const auto next = [&] { return std::find_if(open_.begin(), open_.end(), [](const auto& r) { return !r->running; }); };
      changed_.wait(lock, [&] { return finishing_ || next() != open_.end(); });
      if (next() == open_.end()) return;
      request = *next();
      request->running = true;
    }
    run(*request);
    const std::lock_guard lock(mutex_);
    std::erase(open_, request);
  }
}

void Server::run(Request& request) {
  const Json head = Json::object().set("id", request.id);
  const auto begin = std::chrono::steady_clock::now();
  JobResult result;
  bool cancelled = request.stop.stop_requested();
  int code = -1;
  if (!cancelled) {
    bool memory_ended = false;
    const Result<ChildResult> child =
        run_job_process(options_.program, request.job.words, options_.limits, request.stop.get_token(), [&](std::string_view line) {
          memory_ended |= tells_of_memory(line, options_.limits.memory_bytes > 0);
          if (request.progress) reply(Json(head).set("event", "progress").set("text", printable(without_name(line))));
        });
    if (child) {
      result = judge(request.job, *child, memory_ended);
      cancelled = child->cancelled;
      code = child->code;
    } else {
      result.status = JobStatus::Unavailable;
      result.message = child.error().faults.front().message;
    }
  }
  Json line = Json(head).set("event", "answer").set("status", cancelled ? "cancelled" : to_string(result.status));
  if (code >= 0 && !cancelled) line.set("exit", code);
  if (!result.message.empty() && !cancelled) line.set("message", result.message);
  if (!result.answer.is_null()) line.set("result", std::move(result.answer));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  reply(line.set("seconds", static_cast<double>(static_cast<std::int64_t>(seconds.count() * 1e3)) / 1e3));
}

Json request_schema() {
  Json schema = job_schema();
  schema.set("title", fmt::format("A request to heddle serve ({})", kRequestSchema)).set("$id", "urn:heddle:request:1");
  schema.set(
      "description",
      "JSON Lines: each line is one request with an \"id\", or {\"cancel\": id}. Which options a command has, heddle help COMMAND says.");
  Json& members = *schema.find("properties");
  std::erase_if(*members.members(), [](const JsonMember& member) { return member.key == "each"; });
  for (JsonMember& member : *members.members())
    if (member.key == "do") member.key = "ask";
  members.set("schema", Json::object().set("const", kRequestSchema).set("description", "may be left out"));
  const Json id = Json::object().set("type", Json::array().push("string").push("integer"));
  members.set("id", Json(id).set("description", "comes back with everything that is said of the request"));
  members.set("cancel", Json(id).set("description", "the id of a request that is not wanted any more"));
  members.set("progress", Json::object().set("type", "boolean").set("description", "say what is being done, line by line"));
  const auto wants = [](std::initializer_list<const char*> keys) {
    Json required = Json::array();
    for (const char* key : keys) required.push(key);
    return Json::object().set("required", std::move(required));
  };
  std::erase_if(*schema.members(), [](const JsonMember& member) { return member.key == "allOf"; });
  return schema.set("anyOf", Json::array().push(wants({"id", "ask"})).push(wants({"cancel"})));
}

Json reply_schema() {
  using namespace schema;
  return line(kReplySchema, "A line that heddle serve writes", [](Object& root) {
    const Json text = type("string");
    Object fault(root.definitions());
    fault.required("file", text).required("pointer", text).required("message", text).required("hint", text);
    std::vector<std::string> statuses = words_up_to(JobStatus::KernelFailed);
    statuses.push_back("cancelled");
    root.called("", "JSON Lines: for each request any number of \"progress\", then one \"answer\" or one \"error\". Written only.").open();
    root.required("id", Json::object().set("type", Json::array().push("string").push("integer").push("null")),
                  "of the request; null where it could not be read");
    root.required("event", words({"progress", "answer", "error"}));
    root.optional("text", text, "of progress: what is being done");
    root.optional("status", words(statuses), "of an answer");
    root.optional("exit", integer(0, 255), "of an answer: the command's exit code");
    root.optional("message", text, "of an answer, where there is no result");
    root.optional("result", type("object"),
                  "of an answer: what the command prints with --json, without wall times and counters of the search; {\"text\"} where it "
                  "prints a text");
    root.optional("seconds", type("number"), "of an answer: wall time");
    root.optional("faults", list(fault.finish()), "of an error: what is wrong with the request");
  });
}

}  // namespace heddle::app
