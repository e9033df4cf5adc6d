// SPDX-License-Identifier: MIT
#include "run/launch/output_relay.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include "run/launch/separate_worlds.hpp"

namespace hpcml::launch {

namespace {

/// The output that is kept for a slow reader while the ranks end, because a full pipe must not stop them.
constexpr std::size_t k_last_output = 16U << 20;

bool is_one_file(System& system, int a, int b) {
  struct stat first {
  }, second{};
  return system.fstat(a, first) == 0 && system.fstat(b, second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::vector<OutputRoute> routes_of(const LaunchRequest& request, const RuntimeContext& context,
                                   const NodeSetup& node, bool terminal, bool is_error) {
  const auto& layout = node.world.layout;
  const bool colour = terminal && context.env.get_or("NO_COLOR", "").empty();
  return plan_routes(request.output, {layout.rank - layout.local_rank, layout.local_world_size, colour},
                     is_error);
}

/// The routes to standard output; `errors_too`: standard error is the same file.
std::vector<OutputRoute> routes_to_output(const LaunchRequest& request, const RuntimeContext& context,
                                          const NodeSetup& node, bool errors_too) {
  auto routes = routes_of(request, context, node, context.stdout_is_terminal, false);
  if (!errors_too) return routes;
  auto errors = routes_of(request, context, node, context.stdout_is_terminal, true);
  routes.insert(routes.end(), std::make_move_iterator(errors.begin()), std::make_move_iterator(errors.end()));
  return routes;
}

std::string write_fault(const OutputMultiplexer& stream, const char* name) {
  const int error = stream.fault();
  if (error == 0 || error == EPIPE) return {};
  return fmt::format("cannot write to {}: {}{}", name,
                     error == ENOSPC || error == EDQUOT ? "disk full: " : "", std::strerror(error));
}

/// Drops what a stream holds; a message if that is anything.
std::string drop_queue(OutputMultiplexer& stream, const char* name) {
  const auto bytes = stream.queue().size();
  stream.queue().drop();
  return bytes == 0 ? "" : fmt::format("the reader of {} is blocked: {} bytes are lost", name, bytes);
}

} // namespace

OutputRelay::OutputRelay(const LaunchRequest& request, const RuntimeContext& context,
                         std::shared_ptr<const NodeSetup> node)
    : x_request(request), x_node(std::move(node)),
      x_out(*context.system, STDOUT_FILENO,
            routes_to_output(request, context, *x_node,
                             is_one_file(*context.system, STDOUT_FILENO, STDERR_FILENO)),
            [this](const std::string& loss) { print_line(util::LogLevel::warning, loss); }),
      x_input(*context.system) {
  if (!is_one_file(*context.system, STDOUT_FILENO, STDERR_FILENO))
    x_err.emplace(*context.system, STDERR_FILENO,
                  routes_of(request, context, *x_node, context.stderr_is_terminal, true),
                  [this](const std::string& loss) { print_line(util::LogLevel::warning, loss); });
}

std::size_t OutputRelay::file_count() const {
  return x_request.output.directory.empty() ? 0 : x_out.file_count() + (x_err ? x_err->file_count() : 0);
}

util::Status OutputRelay::open_files() {
  const auto node = x_node->world.layout.node_rank;
  TRY_DONE(x_out.open_files(x_request.output, node));
  return x_err ? x_err->open_files(x_request.output, node) : util::Status(util::Success{});
}

util::Status OutputRelay::add_rank(const RankProcess& process) {
  const auto out = x_out.add_source(process.local_rank, process.out);
  const auto err = errors().add_source(error_source(process.local_rank), process.err);
  return out ? err : out;
}

void OutputRelay::watch_writers(std::span<pollfd, k_writers> ends) const {
  ends[0] = {x_out.write_fd(), POLLOUT, 0};
  ends[1] = {x_err ? x_err->write_fd() : -1, POLLOUT, 0};
}

void OutputRelay::handle_writers(std::span<const pollfd, k_writers> ends) {
  if (ends[0].revents != 0) x_out.write_some();
  if (ends[1].revents != 0) x_err->write_some();
}

void OutputRelay::watch(std::span<pollfd, k_polled> ends) const {
  watch_writers(ends.first<k_writers>());
  ends[2] = {x_out.read_fd(), POLLIN, 0};
  ends[3] = {x_err ? x_err->read_fd() : -1, POLLIN, 0};
  ends[4] = {x_input.read_fd(), POLLIN, 0};
  ends[5] = {x_input.write_fd(), POLLOUT, 0};
}

void OutputRelay::handle(std::span<const pollfd, k_polled> ends) {
  handle_writers(ends.first<k_writers>());
  if (ends[2].revents != 0) x_out.read_some();
  if (ends[3].revents != 0) x_err->read_some();
  check_world_reports();
  if (ends[4].revents != 0) x_input.read_some();
  if (ends[5].revents != 0) x_input.write_some();
}

void OutputRelay::flush_idle() {
  x_out.flush_idle();
  if (x_err) x_err->flush_idle();
}

std::optional<OutputRelay::Clock::time_point> OutputRelay::flush_at() const {
  const auto out = x_out.flush_at();
  const auto err = x_err ? x_err->flush_at() : std::nullopt;
  return out && err ? std::min(out, err) : std::max(out, err); // nothing is less than any time
}

void OutputRelay::print_line(util::LogLevel level, const std::string& text) {
  errors().print_line(util::log_text(level, text));
}

void OutputRelay::buffer_output() {
  x_out.queue().set_limit(k_last_output);
  if (x_err) x_err->queue().set_limit(k_last_output);
}

void OutputRelay::read_last_lines(unsigned local_rank) { errors().read_to_end(error_source(local_rank)); }

std::vector<std::string> OutputRelay::last_lines(unsigned local_rank) const {
  return errors().last_lines(error_source(local_rank));
}

std::optional<OutputRelay::Clock::time_point> OutputRelay::last_written(unsigned local_rank) const {
  return std::max(x_out.last_written(local_rank), errors().last_written(error_source(local_rank)));
}

std::optional<OutputRelay::Clock::time_point> OutputRelay::first_written(unsigned local_rank) const {
  const auto out = x_out.first_written(local_rank);
  const auto err = errors().first_written(error_source(local_rank));
  return out && err ? std::min(out, err) : std::max(out, err);
}

/// A training that cannot be right is reported when it begins.
void OutputRelay::check_world_reports() {
  const auto reports = x_out.world_reports() + (x_err ? x_err->world_reports() : 0);
  if (reports == x_world_reports || x_worlds_reported) return;
  x_world_reports = reports;
  SeparateWorldsEvidence evidence;
  evidence.world_size = x_node->world.layout.world_size;
  evidence.local_ranks = rank_count();
  evidence.reporting = ranks_in_worlds_of_one();
  if (!expects_one_world(*x_node, x_request) || check_worlds(evidence) != SeparateWorldsResult::separate)
    return;
  print_line(util::LogLevel::error, util::error_text(describe_separate_worlds(evidence)));
  x_worlds_reported = true;
}

std::vector<unsigned> OutputRelay::ranks_in_worlds_of_one() const {
  const auto& layout = x_node->world.layout;
  std::vector<unsigned> ranks;
  for (unsigned local = 0; local < rank_count(); ++local)
    if (x_out.reports_world_of_one(local) || errors().reports_world_of_one(error_source(local)))
      ranks.push_back(layout.rank - layout.local_rank + local);
  return ranks;
}

bool OutputRelay::read_rest() {
  const auto read = [](OutputMultiplexer& stream) { return stream.queue().full() || stream.take_rest(); };
  const bool more = read(x_out);
  return (x_err && read(*x_err)) || more;
}

bool OutputRelay::is_full() const { return x_out.queue().full() || (x_err && x_err->queue().full()); }

std::size_t OutputRelay::unwritten() const {
  return x_out.queue().size() + (x_err ? x_err->queue().size() : 0);
}

void OutputRelay::close_ranks() {
  x_out.close_sources();
  if (x_err) x_err->close_sources();
}

void OutputRelay::drop_unwritten() {
  const auto text = drop_queue(x_out, "standard output");
  const auto more = x_err ? drop_queue(*x_err, "standard error") : std::string();
  if (!text.empty()) print_line(util::LogLevel::warning, text);
  if (!more.empty() && x_err) x_err->queue().drop();
  write_errors();
}

std::string OutputRelay::fault() const {
  auto text = write_fault(x_out, "standard output");
  if (text.empty() && x_err) text = write_fault(*x_err, "standard error");
  return text;
}

} // namespace hpcml::launch
