// SPDX-License-Identifier: MIT
#include "run/store/protocol.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace hpcml::store {

namespace {

/// What follows an opcode.
enum class Form : std::uint8_t {
  nothing,
  u32,
  key,
  key_value,
  key_two_values,
  key_number,
  keys,
  keys_values
};

/// By opcode.
constexpr std::array<Form, 19> k_forms = {
    Form::u32,  Form::key_value,   Form::key_two_values, Form::key,       Form::key_number,
    Form::keys, Form::keys,        Form::nothing,        Form::key,       Form::key_value,
    Form::keys, Form::keys_values, Form::nothing,        Form::u32,       Form::key_value,
    Form::key,  Form::key,         Form::nothing,        Form::key_number};

/// torch 1.13 counts from SET = 0 to GETNUMKEYS = 6; 7 watches a key there, which Python cannot ask for and
/// no program was seen to, and deletes one in 2.0; 8 deletes one in 1.13.
constexpr std::array<StoreOpcode, 9> k_torch1_ops = {
    StoreOpcode::set,          StoreOpcode::compare_set, StoreOpcode::get,
    StoreOpcode::add,          StoreOpcode::check,       StoreOpcode::wait,
    StoreOpcode::get_num_keys, StoreOpcode::delete_key,  StoreOpcode::delete_key};

template <class T> T number_at(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

/// Takes parts off the front of bytes that may end too early.
class Reader {
public:
  Reader(std::string_view bytes, std::size_t at) : x_bytes(bytes), x_at(at) {}

  template <class T> bool number(T& value) {
    if (!has_bytes(sizeof(T))) return false;
    value = number_at<T>(x_bytes, x_at);
    x_at += sizeof(T);
    return true;
  }
  /// A length and as many bytes, at most `most`.
  bool text(std::string_view& value, std::uint64_t most, const char* what) {
    std::uint64_t size = 0;
    if (!number(size)) return false;
    if (size > most) {
      fault = fmt::format("{} of {} bytes exceeds the limit ({})", what, size, most);
      return false;
    }
    if (!has_bytes(size)) return false;
    value = x_bytes.substr(x_at, size);
    x_at += size;
    return true;
  }
  std::size_t at() const { return x_at; }

  std::size_t needed = 0;
  std::string fault;

private:
  bool has_bytes(std::size_t count) {
    if (x_bytes.size() - x_at >= count) return true;
    needed = x_at + count;
    return false;
  }
  std::string_view x_bytes;
  std::size_t x_at;
};

bool read_list(Reader& reader, bool with_values, const MessageLimits& limits, TcpStoreMessage& message) {
  std::uint64_t count = 0;
  if (!reader.number(count)) return false;
  if (count > limits.keys) {
    reader.fault = fmt::format("{} keys in one message exceed the limit ({})", count, limits.keys);
    return false;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!reader.text(message.keys.emplace_back(), limits.key_bytes, "a key")) return false;
    if (with_values && !reader.text(message.values.emplace_back(), limits.value_bytes, "a value"))
      return false;
  }
  return true;
}

bool read_form(Reader& reader, Form form, const MessageLimits& limits, TcpStoreMessage& message) {
  const auto key = [&] { return reader.text(message.keys.emplace_back(), limits.key_bytes, "a key"); };
  const auto value = [&] {
    const bool own = message.keys.front().starts_with(k_own_keys);
    return reader.text(message.values.emplace_back(), own ? limits.own_bytes : limits.value_bytes, "a value");
  };
  switch (form) {
  case Form::nothing: return true;
  case Form::u32: {
    std::uint32_t number = 0;
    if (!reader.number(number)) return false;
    message.number = number;
    return true;
  }
  case Form::key: return key();
  case Form::key_value: return key() && value();
  case Form::key_two_values: return key() && value() && value();
  case Form::key_number: {
    std::uint64_t number = 0;
    if (!key() || !reader.number(number)) return false;
    message.number = static_cast<std::int64_t>(number);
    return true;
  }
  case Form::keys: return read_list(reader, false, limits, message);
  case Form::keys_values: return read_list(reader, true, limits, message);
  }
  return false;
}

/// A magic number read as the low half of a key's length would be a key of a gigabyte: no 1.13 client has it.
ProtocolDialect dialect_of(std::string_view bytes, std::size_t& needed) {
  if (bytes[0] != 0) return ProtocolDialect::torch1;
  if (bytes.size() < 5) {
    needed = 5;
    return ProtocolDialect::unknown;
  }
  return number_at<std::uint32_t>(bytes, 1) == k_magic ? ProtocolDialect::torch2 : ProtocolDialect::torch1;
}

} // namespace

MessageReadResult read_message(std::string_view bytes, ProtocolDialect& dialect, const MessageLimits& limits,
                               TcpStoreMessage& message) {
  MessageReadResult found;
  found.needed = 1;
  if (bytes.empty()) return found;
  if (dialect == ProtocolDialect::unknown) dialect = dialect_of(bytes, found.needed);
  if (dialect == ProtocolDialect::unknown) return found;
  const std::size_t opcode = static_cast<unsigned char>(bytes[0]);
  const bool old = dialect == ProtocolDialect::torch1;
  if (opcode >= (old ? k_torch1_ops.size() : k_forms.size())) {
    found.fault = fmt::format("unknown operation {}", opcode);
    return found;
  }
  message.op = old ? k_torch1_ops[opcode] : static_cast<StoreOpcode>(opcode);
  message.keys.clear();
  message.values.clear();
  Reader reader(bytes, 1);
  if (read_form(reader, k_forms[static_cast<std::size_t>(message.op)], limits, message)) {
    found.length = reader.at();
    if (message.op == StoreOpcode::validate && message.number != k_magic)
      found.fault = "the handshake is not that of torch";
  }
  found.needed = reader.needed;
  if (!reader.fault.empty()) found.fault = std::move(reader.fault);
  return found;
}

std::optional<std::int64_t> parse_counter(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  if (at < text.size() && text[at] == '+') {
    ++at;
    if (at < text.size() && text[at] == '-') return std::nullopt; // from_chars would take it
  }
  std::int64_t value = 0;
  const auto end = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (end.ec != std::errc()) return std::nullopt;
  return value;
}

void put_u64(std::string& out, std::uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out.append(bytes, sizeof bytes);
}

void put_bytes(std::string& out, std::string_view bytes) {
  put_u64(out, bytes.size());
  out.append(bytes);
}

} // namespace hpcml::store
