// What tests of apps need to run whole nodes in one process, under the one name that they import.

@_exported public import struct Transport.InMemoryLimits
@_exported public import class Transport.InMemoryNetwork
@_exported public import struct Transport.LinkModel
@_exported public import class Transport.VirtualClock
