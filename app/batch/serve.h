// Questions as they come: JSON Lines on standard input and output (heddle.request/1 and heddle.reply/1, `heddle schema request`), for
// scripts, editors and other languages.
//
//   {"id": 1, "ask": "slack", "kernel": "gemm_hopper", "machine": "h100", "options": {"timeout": 5}}
//   {"cancel": 1}
//
// A request is a job of `heddle batch` (job_file.h) with an id of its sender's, and "ask" for "do". Every request gets one last line, an
// answer or an error, with its id, in the order in which they are done; with "progress": true lines about what is done come before it. Each
// runs in a process of its own, so that no request ends another one or the server.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/batch/job_process.h"
#include "core/base/json.h"

namespace heddle::app {

struct ServeOptions {
  std::string program;      ///< heddle
  std::size_t at_once = 1;  ///< the others wait for their turn
  JobLimits limits;         ///< of each request
};

Json request_schema();  ///< of a line that is read
Json reply_schema();    ///< of a line that is written

/// Takes lines and answers them; destroyed, it cancels what is not done.
class Server {
 public:
  /// `write` gets a reply's line without its end, from one thread at a time.
  Server(ServeOptions options, std::function<void(const std::string& line)> write);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns at once. A line that is no request is answered with an error.
  void take(std::string_view line);
  /// Nothing more comes: returns when everything is answered.
  void finish();
  /// Cancels everything, also what is taken later.
  void cancel_all();

 private:
  struct Request;

  void cancel(const std::string& id);
  void work();
  void run(Request& request);
  void reply(const Json& line);

  const ServeOptions options_;
  const std::function<void(const std::string&)> write_;
  std::mutex writing_;
  std::mutex mutex_;  // guards all below
  std::condition_variable_any changed_;
  std::vector<std::shared_ptr<Request>> open_;  ///< waiting or running, in the order they came
  bool finishing_ = false, cancelled_ = false;
  std::vector<std::jthread> workers_;  // last: they use the others
};

/// The longest line that is read, bytes; a longer one is answered with an error.
inline constexpr std::size_t kLongestRequest = std::size_t{1} << 20;

}  // namespace heddle::app
