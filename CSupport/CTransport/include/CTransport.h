#ifndef CTRANSPORT_H
#define CTRANSPORT_H
int ct_version(void);
#endif
