#ifndef CMOBILE_CRYPTO_H
#define CMOBILE_CRYPTO_H
int mcr_version(void);
#endif
