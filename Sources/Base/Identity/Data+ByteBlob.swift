internal import Bytes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Lets the codecs of Bytes read and write the bytes in one piece instead of one by one.
extension Data: ByteBlob {}
