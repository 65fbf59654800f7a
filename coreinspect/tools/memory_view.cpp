// The view memory: every MiB of RSS by owner, beside the limit of the control group.
#include <algorithm>
#include <cstdio>

#include "base/size_text.h"
#include "base/strings.h"
#include "coreinspect/tools/direct_memory.h"
#include "coreinspect/tools/memory_account.h"
#include "coreinspect/tools/views.h"
#include "target/cgroup.h"

namespace jtrace::coreinspect {
namespace {

double share_of(std::uint64_t bytes, std::uint64_t total) {
  return total == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(total);
}

std::string row_text(const MemoryAccount& account, std::string_view name, const PartBytes& part) {
  char text[96];
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  if (account.has_pages)
    std::snprintf(text, sizeof text, "%16llu %14llu %6.1f %%", number(part.bytes), number(part.resident),
                  100 * share_of(part.resident, account.resident()));
  else std::snprintf(text, sizeof text, "%16llu %14s %8s", number(part.bytes), "-", "-");
  std::string line = text;
  if (account.swapped() > 0) {
    std::snprintf(text, sizeof text, " %14llu", number(part.swap));
    line += text;
  }
  return line.append("  ").append(name).append("\n");
}

void write_text(std::string& out, const MemoryAccount& account) {
  out = "           bytes       resident    share";
  out += account.swapped() > 0 ? "           swap  part\n" : "  part\n";
  PartBytes total;
  for (std::size_t i = 0; i < kMemoryParts; ++i) {
    const PartBytes& part = account.parts[i];
    total.bytes += part.bytes;
    total.resident += part.resident;
    total.swap += part.swap;
    if (part.bytes > 0 || part.resident > 0) out += row_text(account, text_of(static_cast<MemoryPart>(i)).name, part);
  }
  out += row_text(account, "total", total);
}

void write_rows(std::string& out, const MemoryAccount& account) {
  JsonWriter json(out);
  for (std::size_t i = 0; i < kMemoryParts; ++i) {
    const PartBytes& part = account.parts[i];
    const MemoryPartText& text = text_of(static_cast<MemoryPart>(i));
    if (part.bytes == 0 && part.resident == 0) continue;
    json.begin_object().member("part", text.name).member("bytes", part.bytes);
    if (account.has_pages) {
      json.member("resident", part.resident).member("share", share_of(part.resident, account.resident()));
      json.member("swap", part.swap);
    }
    if (!text.how.empty()) json.member("how", text.how);
    json.end_object();
  }
}

// "mapped files: 88 mappings of 8 files, of them 11 of /data/segment-3.dat, 44.0 MiB; ..."
std::string files_text(const std::vector<MappedFileBytes>& files) {
  constexpr std::size_t kShown = 3;
  if (files.empty()) return {};
  std::size_t mappings = 0;
  for (const MappedFileBytes& file : files) mappings += file.mappings;
  std::string text = "mapped files: " + counted(mappings, "mapping") + " of " + counted(files.size(), "file");
  for (std::size_t i = 0; i < std::min(files.size(), kShown); ++i)
    text += (i == 0 ? ", most of " : ", ") + printable(files[i].path) + " (" + counted(files[i].mappings, "mapping") +
            ", " + mib_text(files[i].bytes.bytes) + ")";
  return text + "; a program maps files as java.nio.MappedByteBuffer\n";
}

void write_files(JsonWriter& json, const std::vector<MappedFileBytes>& files) {
  constexpr std::size_t kMost = 100;
  json.key("files").begin_array();
  for (std::size_t i = 0; i < std::min(files.size(), kMost); ++i)
    json.begin_object()
        .member("path", files[i].path)
        .member("mappings", files[i].mappings)
        .member("bytes", files[i].bytes.bytes)
        .member("resident", files[i].bytes.resident)
        .end_object();
  json.end_array().member("filesLeftOut", files.size() - std::min(files.size(), kMost));
}

void write_notes(std::string& out, const MemoryAccount& account, const std::optional<DirectMemory>& direct,
                 const std::optional<target::GroupMemory>& group) {
  if (account.counted_again > 0)
    out += "RSS as the kernel counts it: " + std::to_string(account.rss) + ", " + mib_text(account.rss) +
           "; ZGC maps its heap " + counted(account.heap_views, "time") + ", and " + mib_text(account.counted_again) +
           " of it are counted again\n";
  const MallocMemory& malloc = account.malloc;
  if (malloc.heaps > 0)
    out += "malloc: " + counted(malloc.arenas, "arena") + (malloc.arenas == 1 ? " holds " : " hold ") +
           mib_text(malloc.held) + ", at least " + mib_text(malloc.free) + " of it free; " +
           counted(malloc.blocks, "large block") + "\n";
  if (direct)
    out += "direct buffers: " + std::to_string(direct->count) + " of " +
           mib_text(static_cast<std::uint64_t>(direct->capacity)) + "; their memory is malloc's\n";
  out += files_text(account.files);
  if (!group) return;
  out += "control group (version " + std::to_string(group->group.version) + ", " + printable(group->limit_folder) +
         "): uses " + mib_text(group->used) + ", of it " + mib_text(group->inactive_file) + " inactive page cache; ";
  out += group->limit ? "limit " + mib_text(*group->limit) + "\n" : "no limit\n";
}

void write_members(std::string& out, const MemoryAccount& account, const std::optional<DirectMemory>& direct,
                   const std::optional<target::GroupMemory>& group) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  if (account.has_pages)
    json.member("rss", account.rss)
        .member("resident", account.resident())
        .member("swap", account.swapped())
        .member("countedAgain", account.counted_again)
        .member("heapViews", account.heap_views);
  json.key("malloc")
      .begin_object()
      .member("arenas", account.malloc.arenas)
      .member("heaps", account.malloc.heaps)
      .member("held", account.malloc.held)
      .member("free", account.malloc.free)
      .member("unparsable", account.malloc.unparsable)
      .member("largeBlocks", account.malloc.blocks)
      .end_object();
  write_files(json, account.files);
  if (direct)
    json.key("direct")
        .begin_object()
        .member("buffers", direct->count)
        .member("capacity", direct->capacity)
        .member("reserved", direct->reserved)
        .end_object();
  if (group) {
    json.key("cgroup").begin_object().member("version", group->group.version).member("path", group->limit_folder);
    json.member("used", group->used).member("inactiveFile", group->inactive_file);
    if (group->limit) json.member("limit", *group->limit);
    json.end_object();
  }
  json.end_object();
  out += "\"memory\":" + text;
}

}  // namespace

Result<ViewResult> view_memory(Inspection& inspection, const ViewOptions& options) {
  if (inspection.vm().cached_memory()) inspection.vm().cached_memory()->forget();
  JTRACE_ASSIGN_OR_RETURN(MemoryAccount account, take_memory_account(inspection));
  ViewResult result;
  result.missing = std::move(account.missing);
  const auto direct = read_direct_memory(inspection);
  std::optional<target::GroupMemory> group;
  if (const target::Process* process = inspection.target().process()) {
    if (auto memory = target::read_group_memory(*process)) group = std::move(*memory);
    else result.missing.push_back("control group: " + memory.error().message());
  }
  if (options.json) {
    write_rows(result.out, account);
    write_members(result.members, account, direct, group);
  } else {
    write_text(result.out, account);
    write_notes(result.out, account, direct, group);
  }
  return result;
}

}  // namespace jtrace::coreinspect
