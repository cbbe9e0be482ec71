// SPDX-License-Identifier: MIT
// arrow: names -> the texts that indices in a column of names refer to.
#include "arrow/dictionary.hpp"

#include <limits>

#include "decode/error.hpp"
#include "export/utf8.hpp"

namespace nsdump::arrow
{
void Texts::add(const std::string &text)
{
    bytes += utf8_text(text);
    if (bytes.size() > size_t(std::numeric_limits<int32_t>::max()))
        throw TraceError("the names of the trace take more than 2 GiB, which Arrow's dictionaries "
                         "cannot hold (export the trace as CSV)");
    offsets.push_back(int32_t(bytes.size()));
}

std::shared_ptr<const Texts> NameDictionary::texts()
{
    const auto known = texts_ ? texts_->size() : -1;
    if (known == int64_t(names_.size()))
        return texts_;
    auto grown = texts_ ? std::make_shared<Texts>(*texts_) : std::make_shared<Texts>();
    for (NameId name = NameId(grown->size()); name < names_.size(); ++name)
        grown->add(names_[name].text);
    texts_ = std::move(grown);
    return texts_;
}
} // namespace nsdump::arrow
