// The essentials of Foundation under one name. Apple systems have them only in the whole of Foundation.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
